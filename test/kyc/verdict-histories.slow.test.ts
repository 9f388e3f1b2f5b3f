import { it } from 'vitest';
import { playHistories } from '#test/kyc/verdict-histories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
/** 2,500 take six minutes: `HISTORIES=2500 npx vitest run test/kyc/verdict-histories.slow`. In one database, more grow slower. */
const HISTORIES = Number(process.env.HISTORIES ?? 500);

it(
  'of many random histories none makes a game live without the verdict that it needs',
  { timeout: 3_600_000 },
  () => playHistories(database.sql, HISTORIES),
);
