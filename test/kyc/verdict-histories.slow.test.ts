import { it } from 'vitest';
import { playHistories } from '#test/kyc/verdict-histories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const HISTORIES = 10_000;

it(
  'of 10,000 histories none makes a game live without the verdict that it needs',
  { timeout: 3_600_000 },
  () => playHistories(database.sql, HISTORIES),
);
