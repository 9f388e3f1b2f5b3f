import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mayCarryOver } from '#src/rules/carry-over.ts';
import { CONTENT_COLUMNS, toGameContent } from '#src/rules/mapping.ts';
import { aDetail, DEFAULT_RULE } from '#test/support/factories.ts';

const OTHER = 'https://other.example/1';

// A column that is added later too: no decision was about its new value.
test.each(CONTENT_COLUMNS)('a decision does not stand for another %s', (column) => {
  const decided = toGameContent(aDetail());
  const before = decided[column];
  const now = { ...decided, [column]: typeof before === 'string' ? OTHER : [...before, OTHER] };
  expect(mayCarryOver(decided, decided, DEFAULT_RULE)).toBe(true);
  expect(mayCarryOver(decided, now, DEFAULT_RULE)).toBe(false);
});

test.each(['carry_over_decision', 'keep_shown_revision'])('%s compares every column of content', (name) => {
  const schema = readFileSync(new URL('../../db/schema.sql', import.meta.url), 'utf8');
  const [body] = schema.split(`FUNCTION ${name}(`)[1]?.split('$function$;') ?? [];
  expect(CONTENT_COLUMNS.filter((column) => !body?.includes(`r.${column}`))).toEqual([]);
});
