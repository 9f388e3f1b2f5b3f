import { randomUUID } from 'node:crypto';
import { expect, inject, test } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { operate } from '#src/operations/operate.ts';
import { startAcceptingRun } from '#src/operations/runs.ts';
import { GAMES, useSuspectRuns } from '#test/operations/suspect-runs.ts';
import { documentOf, runCli } from '#test/support/cli.ts';
import { signIn, startTestConsole } from '#test/support/console.ts';
import { KIM, testPlatform } from '#test/support/operate.ts';
import { asOperator } from '#test/support/roles.ts';

const { database, suspect, ask, openId, act, withdrawn } = useSuspectRuns();

const operatorEnv = () => {
  const redisUrl = inject('redisUrl');
  return {
    ...asOperator(database.databaseUrl),
    QUEUE_PREFIX: `{approvals-${randomUUID()}}`,
    ...(redisUrl !== null && { REDIS_URL: redisUrl }),
  };
};

test('the command line obeys the rule: run accept and sync --accept-withdrawals', async () => {
  const { application_id, run_id, game_ids } = suspect;
  const env = operatorEnv();
  const run = async (...args: string[]) => {
    const result = await runCli([...args, '--json'], env);
    return { exit: result.exit, ...documentOf(result) };
  };
  const accept = ['run', 'accept', run_id, '--by', 'rita'];
  expect(await run(...accept)).toMatchObject({
    exit: 1,
    error: expect.stringContaining('It takes two persons'),
  });
  expect(await run('sync', application_id, '--accept-withdrawals')).toMatchObject({
    exit: 2,
    error: expect.stringContaining('It takes two persons'),
  });
  await ask('rita', { act: 'selected', game: game_ids[0] ?? '' });
  const listed = await run('approval', 'list');
  expect(listed.approvals).toMatchObject([{ kind: 'withdrawals', state: 'requested', requested_by: 'rita' }]);
  const id = await openId();
  expect(await run(...accept, '--approval', id)).toMatchObject({
    error: expect.stringContaining('This is not approved yet'),
  });
  await act('hana', 'approve');
  expect(await run('run', 'accept', run_id, '--by', 'hana', '--approval', id)).toMatchObject({
    error: expect.stringContaining('only rita can use the approval'),
  });
  expect(await run(...accept, '--approval', id)).toEqual({ exit: 0, run_id, game_ids: [game_ids[0]] });
  expect(await run(...accept, '--approval', id)).toMatchObject({ exit: 1 });
  await ask('rita');
  await act('hana', 'approve');
  const sync = ['sync', application_id, '--accept-withdrawals', '--by', 'rita', '--approval', await openId()];
  expect(await run(...sync)).toMatchObject({ exit: 0, runs: [{ application_id }] });
  expect(await withdrawn()).toBe(GAMES);
  const [last] = await database.sql`
    select accept_withdrawals from sync_runs where application_id = ${application_id} order by run_id desc limit 1`;
  expect(last).toEqual({ accept_withdrawals: false });
});

test('a run that may withdraw all does not open if a second person became necessary meanwhile', async () => {
  const { application_id } = suspect;
  const { sql } = database;
  const starting = operate(startAcceptingRun, { application_id }, KIM, testPlatform(sql));
  await expect(starting).rejects.toThrow('It takes two persons');
  expect(
    await sql`select from sync_runs where application_id = ${application_id} and finished_at is null`,
  ).toHaveLength(0);
});

test('FOUR_EYES=none: sync --accept-withdrawals takes one person, and the audit log says why', async () => {
  const { application_id } = suspect;
  const accept = ['sync', application_id, '--accept-withdrawals', '--by', 'rita', '--json'];
  expect(await runCli(accept, { ...operatorEnv(), FOUR_EYES: 'none' })).toMatchObject({ exit: 0 });
  const [entry] = await listAudit(database.sql, { action: 'run.accept_withdrawals', limit: 1 });
  expect(entry).toMatchObject({
    actor: 'rita',
    subject: `application:${application_id}`,
    details: { accept_withdrawals: true, second_person: 'none: FOUR_EYES' },
  });
});

test('FOUR_EYES=none: one person alone, and every page says so', async () => {
  const { run_id } = suspect;
  const alone = await startTestConsole(database, { fourEyes: { kinds: [], onceTwo: false } });
  try {
    const cookie = await signIn(alone.url, 'rita');
    expect(await (await fetch(new URL('/sign-in', alone.url))).text()).toContain('FOUR_EYES is none');
    for (const path of ['/nowhere', '/', '/review', '/games', `/runs/${run_id}`, '/failures', '/reasons']) {
      const text = await (await fetch(new URL(path, alone.url), { headers: { cookie } })).text();
      expect(text, path).toContain('FOUR_EYES is none: one person alone can reveal a KYC record');
    }
    await fetch(new URL(`/runs/${run_id}/withdrawals`, alone.url), {
      method: 'POST',
      headers: { cookie },
      body: new URLSearchParams({ act: 'all' }),
    });
    expect(await withdrawn()).toBe(GAMES);
  } finally {
    await alone.stop();
  }
});
