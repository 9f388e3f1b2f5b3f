import { expect, it } from 'vitest';
import { spellPlace } from '#src/rules/answer.ts';

it('a place in a lane is spelled for a developer, who knows no lanes', () => {
  expect(spellPlace({ lane: 'new', place: 1, games: 1 })).toBe('the only new game');
  expect(spellPlace({ lane: 'changed', place: 1, games: 2 })).toBe('the first of 2 changed games');
  expect(spellPlace({ lane: 'new', place: 1_200, games: 3_400 })).toBe('number 1,200 of 3,400 new games');
});
