import { beforeAll, expect, it } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { INSUFFICIENT_PRIVILEGE, TALK_REFUSED } from '#db/sqlstate.ts';
import { useStolenLogins } from '#test/privilege/support.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';

const { database, attempt, expectRefused } = useStolenLogins();

beforeAll(async () => {
  const { sql } = database;
  await addApplication(sql, 'acme');
  await upsertGames(sql, 'acme', [fetchedGame()]);
});

const write = (kind: string, by: string) =>
  `insert into game_messages (game_id, kind, written_by, text) select game_id, '${kind}', '${by}', 'hello' from games`;

it('a stolen API writes to no developer, and in a thread only as the application of the game', async () => {
  await expectRefused('api', [write('message', 'olga'), write('note', 'olga'), write('message', 'acme')]);
  await attempt('api', write('answer', 'olga'));
  const entries = await database.sql<{ written_by: string }[]>`select written_by from game_messages`;
  expect(entries.map(({ written_by }) => written_by)).toEqual(['acme']);
});

it('a stolen API writes in a thread no more than its developer may, also by transactions that began at once', async () => {
  const { sql } = database;
  const answer =
    "insert into game_messages (game_id, kind, written_by, text) select game_id, 'answer', '', 'x' from games";
  const refused: unknown[] = [];
  for (const isolation of ['repeatable read', 'serializable', 'read committed']) {
    const login = database.as('api');
    await login
      .begin(async (tx) => {
        await tx.unsafe(`set transaction isolation level ${isolation}`);
        await tx`select from games`;
        for (let n = 0; n < 101; n += 1) await tx.savepoint((within) => within.unsafe(answer));
      })
      .catch((error: { code?: string }) => refused.push(error.code));
  }
  expect(refused).toEqual([INSUFFICIENT_PRIVILEGE, INSUFFICIENT_PRIVILEGE, TALK_REFUSED]);
  expect(await sql`select from game_messages where text = 'x'`).toEqual([]);
});

it('a stolen API writes to the audit log answers and appeals of applications, and nothing of a person', async () => {
  const entry = (kind: string, action: string) =>
    `insert into audit_log (actor, actor_kind, action, subject) values ('kim', '${kind}', '${action}', 'game:1')`;
  await expectRefused('api', [
    entry('operator', 'game.message'),
    entry('command_line', 'game.pass'),
    entry('system', 'game.reopen'),
    entry('application', 'game.pass'),
    entry('application', 'token.revoke'),
  ]);
});

it('a stolen API decides no appeal, and changes no entry of a thread', async () => {
  await expectRefused('api', [
    "update game_appeals set outcome = 'overturned', decided_by = 'kim', answer = 'yes'",
    "update game_messages set text = 'other'",
    'delete from game_messages',
    'delete from game_appeals',
  ]);
});

it.each(['api', 'kyc_desk'] as const)('a stolen %s reads no job of a queue in Postgres', async (role) => {
  await expectRefused(role, [
    'select return_value from bullmq.job',
    'select template_data from bullmq.scheduler',
    'select from bullmq.event',
    "select nextval('bullmq.job_seq')",
  ]);
});
