import { expect, test } from 'vitest';
import { movedParameters, proposeVolatile } from '#src/rules/address-changes.ts';
import { identityRule } from '#src/rules/address-identity.ts';
import { explainShortAddresses } from '#src/rules/address-lifetime.ts';
import { toGameContent } from '#src/rules/mapping.ts';
import { aDetail, DEFAULT_RULE } from '#test/support/factories.ts';

const url = (t: number, file = 'a') => `https://cdn.example/${file}.png?id=1&t=${t}`;
const content = (t: number, changes = {}) =>
  toGameContent(
    aDetail({ game_icon: [url(t)], game_store_pic: [url(t, 'b')], game_store_video: '', ...changes }),
  );

test('the parameters in which addresses move, if nothing else does', () => {
  expect(movedParameters(content(1), content(2), DEFAULT_RULE)).toEqual(['t']);
  const others = [
    content(1),
    content(2, { game_name: 'Other' }),
    content(2, { game_info: 'Other' }),
    content(2, { game_icon: [] }),
    content(2, { game_store_video: 'https://cdn.example/film.mp4' }),
  ];
  for (const other of others) expect(movedParameters(content(1), other, DEFAULT_RULE)).toBeUndefined();
  expect(movedParameters(content(1), content(2, { game_store_pic: [url(2, 'c')] }), DEFAULT_RULE)).toEqual(
    [],
  );
  // What the rule leaves out already is no change.
  expect(movedParameters(content(1), content(2), identityRule(['t']))).toBeUndefined();
});

test('a proposal keeps the names that are set, and has no name that a shell would take apart', () => {
  expect(proposeVolatile('acme', ['s'], ['t', 's'])).toBe(
    'npx catalogue app update acme --volatile-parameter s t',
  );
  for (const name of ['t;rm -rf ~', '$(id)', '', 't t', '`id`', "t'", 'x'.repeat(65)])
    expect(proposeVolatile('acme', [], ['t', name])).toBeNull();
  expect(proposeVolatile('acme', [], ['a', 'b', 'c', 'd', 'e', 'f'])).toBeNull();
  // Addresses with such parameters would have an operator send a secret of this machine to the application.
  expect(proposeVolatile('acme', [], ['--access-token-env', 'OTHERS_TOKEN'])).toBeNull();
  expect(proposeVolatile('acme', ['$(id)'], ['t'])).toBeNull();
});

test('addresses last until the next run has read them, or it is said why they do not', () => {
  const [minute, hour] = [60_000, 3_600_000];
  expect(explainShortAddresses(null, hour)).toBeNull();
  expect(explainShortAddresses(hour, 15 * minute)).toBeNull();
  expect(explainShortAddresses(75 * minute, hour)).toBeNull();
  expect(explainShortAddresses(15 * minute, 15 * minute)).toBe(
    'its addresses end 15m after an answer, and its games are read every 15m: in between, what the platform serves has ended. Sign addresses for at least 19m',
  );
  expect(explainShortAddresses(-5, hour)).toContain('end 0s after an answer');
});
