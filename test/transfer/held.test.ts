import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { upsertGames } from '#db/queries/games.ts';
import { holdApplication } from '#src/operations/holds.ts';
import { runCli } from '#test/support/cli.ts';
import { addApplication, fetchedDetail, fetchedGame } from '#test/support/factories.ts';
import { decideGame, KIM, operateAs } from '#test/support/operate.ts';
import { createTestDatabase } from '#test/support/postgres-server.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const hold = { application_id: 'held', reason: 'The rights are in doubt.' };
const statusesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).audit_status);

it('a held application is exported with the decisions that stand, and stderr says so; the import passes its games', async () => {
  const { sql } = database;
  const ours = asOperator(database.databaseUrl);
  await addApplication(sql, 'held');
  const games = ['decided', 'moved', 'new'].map((game_id) => fetchedGame({ game_id }));
  await upsertGames(sql, 'held', games);
  for (const { game_id } of games.slice(0, 2)) await decideGame(sql, { game_id, audit_status: 'passed' });
  await operateAs(sql, KIM.actor, holdApplication, hold);
  await upsertGames(sql, 'held', [fetchedDetail({ game_id: 'moved', game_info: 'Changed.' }, new Date())]);

  const args = ['game', 'export', '--application', 'held'];
  const exported = await runCli(args, ours);
  expect(statusesOf(exported.stdout)).toEqual(['passed', 'pending', 'pending']);
  expect(exported.stderr).toBe(
    'An operator holds held: its games are exported with the decisions that stand, as after a release.\n',
  );
  expect(statusesOf((await runCli([...args, '--status', 'passed'], ours)).stdout)).toEqual(['passed']);
  expect(statusesOf((await runCli([...args, '--status', 'pending'], ours)).stdout)).toHaveLength(2);

  const directory = await mkdtemp(join(tmpdir(), 'catalogue-held-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'games.ndjson');
  await writeFile(file, exported.stdout);
  const empty = await createTestDatabase();
  const other = openDatabase(empty.databaseUrl, { max: 2, applicationName: 'held test' });
  onTestFinished(async () => {
    await other.end();
    await empty.drop();
  });
  const theirs = asOperator(empty.databaseUrl);
  const imports = ['game', 'import', '--application', 'held', '--file', file, '--by', 'kim'];
  await addApplication(other, 'held');
  // The file has no hold, and a held application has no passed game.
  await operateAs(other, KIM.actor, holdApplication, hold);
  const refused = await runCli(imports, theirs);
  expect(refused).toMatchObject({ exit: 1, stdout: '' });
  expect(refused.stderr).toContain('Release the application (app release)');
  await other`delete from application_holds`;
  expect((await runCli(imports, theirs)).stdout).toContain('3 imported: 1 decided');
  expect(await other`select application_game_id from games where audit_status = 'passed'`).toEqual([
    { application_game_id: 'decided' },
  ]);
  expect((await runCli(args, theirs)).stdout).toBe(exported.stdout);
  await operateAs(other, KIM.actor, holdApplication, hold);
  expect((await runCli(args, theirs)).stdout).toBe(exported.stdout);
});
