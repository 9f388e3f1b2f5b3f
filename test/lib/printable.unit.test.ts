import { expect, test } from 'vitest';
import { escapeUnprintable, replaceUnprintable, toPrintable } from '#src/lib/printable.ts';

/** Marks, embeddings, overrides and isolates: every character that changes the direction of text. */
const DIRECTION = '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069';

test('no character that changes the direction of text passes', () => {
  expect(toPrintable(`a${DIRECTION}b`)).toBe(`a${'\ufffd'.repeat(12)}b`);
  expect(replaceUnprintable(`a${DIRECTION}b`, ' ')).toBe(`a${' '.repeat(12)}b`);
  const json = JSON.stringify(DIRECTION);
  expect(escapeUnprintable(json)).toMatch(/^"(\\u[0-9a-f]{4}){12}"$/);
  expect(JSON.parse(escapeUnprintable(json))).toBe(DIRECTION);
});

test('other controls and line separators are replaced, and letters of any script are kept', () => {
  expect(toPrintable('a\u0000\u001b\u007f\u009b')).toBe('a\ufffd\ufffd\ufffd\ufffd');
  expect(toPrintable('a\tb\nc\u2028d')).toBe('a b c d');
  const words = 'Game لعبة משחק ゲーム 🎲';
  expect(toPrintable(words)).toBe(words);
});
