import { expect, test } from 'vitest';
import { readNavigationCounts } from '#db/queries/navigation-counts.ts';
import { tickJob } from '#jobs/tick.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { runWithdrawalList } from '#src/lists/runs.ts';
import { pauseApplication } from '#src/operations/applications.ts';
import { operate } from '#src/operations/operate.ts';
import { GAMES, useSuspectRuns } from '#test/operations/suspect-runs.ts';
import { anOpenRun } from '#test/support/factories.ts';
import { readPage } from '#test/support/lists.ts';
import { KIM, testPlatform } from '#test/support/operate.ts';

const { database, suspect, get, ask, openId, act, withdrawn, queues } = useSuspectRuns();

test('an application that also fails stays in the first queue for that', async () => {
  const { application_id } = suspect;
  await database.sql`
    update applications set failing_since = now() - interval '1 hour', failed_runs = 2 where application_id = ${application_id}`;
  await ask('rita');
  expect(await queues()).toEqual({ first: false, second: true });
  const [first = ''] = (await get('hana', '/')).split('<h2>Waiting for a second person</h2>');
  expect(first).toContain(`/applications/${application_id}"`);
  await act('rita', 'cancel');
});

test('exactly the games that were approved, and nothing if the run changed meanwhile', async () => {
  const { application_id, run_id, game_ids } = suspect;
  const [first = '', second = '', third = ''] = game_ids;
  const form = { act: 'selected', game: first };
  await ask('rita', form);
  await act('hana', 'approve');
  expect(await act('rita', 'use')).toBe('Games withdrawn: 1.');
  await ask('rita', { act: 'selected', game: second });
  // A later call has fetched another game: it no longer vanishes.
  await database.sql`update games set fetched_at = now() + interval '1 minute' where game_id = ${third}`;
  const { rows } = await readPage(database.sql, runWithdrawalList, { run_id }, { limit: 9 });
  expect(rows.map(({ game_id }) => game_id)).not.toContain(third);
  expect(await act('hana', 'approve')).toContain('has changed since');
  await ask('rita');
  await act('hana', 'approve');
  await anOpenRun(database.sql, application_id);
  expect(await act('rita', 'use')).toContain('A later run of');
  expect(await withdrawn()).toBe(1);
});

test('while the application is paused, its schedule opens no run, and the request stays valid', async () => {
  const { application_id } = suspect;
  const { sql } = database;
  await operate(pauseApplication, { application_id }, KIM, testPlatform(sql));
  await ask('rita');
  await act('hana', 'approve');
  const ticked = tickJob.handler({ application_id, schedule: 'games' }, {
    deps: { sql },
  } as unknown as JobContext);
  expect(await ticked).toEqual({ skipped: 'not active' });
  await act('rita', 'use');
  expect(await withdrawn()).toBe(GAMES);
});

test('the overview lists requests without reading their games, and none of a run that is no longer the latest', async () => {
  const { application_id } = suspect;
  const { sql } = database;
  await ask('rita');
  await sql`alter table vanishing_games rename to renamed`;
  try {
    expect(await queues()).toEqual({ first: false, second: true });
    expect(await readNavigationCounts(sql)).toMatchObject({ requests: 1 });
  } finally {
    await sql`alter table renamed rename to vanishing_games`;
  }
  await anOpenRun(sql, application_id);
  expect(await queues()).toMatchObject({ second: false });
  expect(await readNavigationCounts(sql)).toMatchObject({ requests: 0 });
  expect(await act('hana', 'approve')).toContain('has changed since');
});

test('games that are withdrawn make the other requests for their run void', async () => {
  const [first = '', second = ''] = suspect.game_ids;
  await ask('hana', { act: 'selected', game: first });
  const other = await openId();
  await ask('rita', { act: 'selected', game: second });
  await act('hana', 'approve');
  expect(await act('rita', 'use')).toBe('Games withdrawn: 1.');
  const [row] = await database.sql`select closed_as from approvals where approval_id = ${other}`;
  expect(row).toEqual({ closed_as: 'void' });
  expect(await queues()).toEqual({ first: true, second: false });
});
