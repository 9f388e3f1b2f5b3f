import { pino } from 'pino';
import { expect, test } from 'vitest';
import { readConfig } from '#src/config.ts';
import { checkDatabase } from '#src/processes/check-database.ts';
import { migrateAll } from '#src/processes/migrate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

test('migrate without GAMES_NEED_VERDICT leaves the rule on, and a process whose rules differ says so', async () => {
  const { databaseUrl } = database;
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const configOf = (env: Record<string, string>) => readConfig({ DATABASE_URL: databaseUrl, ...env });
  const migrate = async (env: Record<string, string>) =>
    (await migrateAll(configOf(env), databaseUrl, logger, () => {})).rules;
  const start = async (env: Record<string, string>) => {
    lines.length = 0;
    await checkDatabase(configOf(env), databaseUrl, logger);
    return lines.filter((line) => line.includes('other rules'));
  };
  const on = { games_need_verdict: true, review_target_ms: 86_400_000 };
  expect(await migrate({ GAMES_NEED_VERDICT: 'true', REVIEW_TARGET: '24h' })).toEqual(on);
  expect(await migrate({})).toEqual(on);
  expect(await start({})).toEqual([]);
  expect(await start({ GAMES_NEED_VERDICT: 'true', REVIEW_TARGET: '1d' })).toEqual([]);
  expect(await start({ GAMES_NEED_VERDICT: 'false' })).toEqual([
    expect.stringContaining('"GAMES_NEED_VERDICT":true'),
  ]);
  expect(await start({ REVIEW_TARGET: '2h' })).toEqual([expect.stringContaining('"REVIEW_TARGET":"1d"')]);
  expect(await migrate({ GAMES_NEED_VERDICT: 'false' })).toEqual({ ...on, games_need_verdict: false });
});
