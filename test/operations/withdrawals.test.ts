import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { upsertGames } from '#db/queries/games.ts';
import { readNavigationCounts } from '#db/queries/navigation-counts.ts';
import { closeRun } from '#db/queries/runs.ts';
import { tickJob } from '#jobs/tick.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { runWithdrawalList } from '#src/lists/runs.ts';
import { pauseApplication } from '#src/operations/applications.ts';
import { operate } from '#src/operations/operate.ts';
import { startAcceptingRun } from '#src/operations/runs.ts';
import { actionsOn } from '#test/support/approvals.ts';
import { documentOf, runCli } from '#test/support/cli.ts';
import { addTestOperator, signIn, startTestConsole, useTestConsole } from '#test/support/console.ts';
import { addApplication, anOpenRun, fetchedGame } from '#test/support/factories.ts';
import { readPage } from '#test/support/lists.ts';
import { KIM, testPlatform } from '#test/support/operate.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const GAMES = 12;
const served = useTestConsole(database);
const cookies: Record<string, string> = {};
let next = 0;
let application_id: string;
let run_id: string;
let game_ids: string[];

beforeAll(async () => {
  for (const [login, role] of [
    ['rita', 'reviewer'],
    ['hana', 'reviewer'],
    ['ada', 'admin'],
  ] as const) {
    await addTestOperator(database.sql, login, role);
    cookies[login] = await signIn(served.url, login);
  }
});

/** A suspect run whose games would all vanish. */
beforeEach(async () => {
  const { sql } = database;
  next += 1;
  application_id = `app-${next}`;
  await addApplication(sql, application_id);
  const games = Array.from({ length: GAMES }, (_, n) => fetchedGame({ game_id: `g-${n}` }));
  await upsertGames(sql, application_id, games);
  const run = await anOpenRun(sql, application_id);
  await closeRun(sql, run, { outcome: 'suspect', reason: 'all games are gone' });
  run_id = run.run_id;
  await sql`
    insert into vanishing_games (run_id, game_id)
    select ${run_id}, game_id from games where application_id = ${application_id}`;
  game_ids = games.map(({ game_id }) => game_id);
});

const get = async (login: string, path: string): Promise<string> =>
  (await fetch(new URL(path, served.url), { headers: { cookie: cookies[login] ?? '' } })).text();
/** Posts a form. @returns what the next page says */
const post = async (login: string, path: string, form: Record<string, string> = {}): Promise<string> => {
  const headers = { cookie: cookies[login] ?? '' };
  const answer = await fetch(new URL(path, served.url), {
    method: 'POST',
    headers,
    body: new URLSearchParams(form),
    redirect: 'manual',
  });
  if (answer.status !== 303) return `${answer.status} ${await answer.text()}`;
  const notice = answer.headers.getSetCookie().find((each) => each.startsWith('catalogue_notice='));
  return decodeURIComponent(notice?.split(';')[0]?.split('=')[1] ?? '').replace(/^\w+ /, '');
};
const ask = (login: string, form: Record<string, string> = { act: 'all' }) =>
  post(login, '/requests', {
    kind: 'withdrawals',
    subject: `run:${run_id}`,
    reason: 'they closed the studio',
    ...form,
  });
const openId = async (): Promise<string> => {
  const [row] = await database.sql<{ approval_id: string }[]>`
    select approval_id from approvals where subject = ${`run:${run_id}`} order by requested_at desc limit 1`;
  return row?.approval_id ?? '';
};
const act = async (login: string, what: 'approve' | 'cancel' | 'decline' | 'use') => {
  const approval = await openId();
  return what === 'use'
    ? post(login, `/runs/${run_id}/withdrawals`, { approval })
    : post(login, `/requests/withdrawals/${approval}/${what}`);
};
const withdrawn = async (): Promise<number> => {
  const rows =
    await database.sql`select from games where application_id = ${application_id} and withdrawn_at is not null`;
  return rows.length;
};
/** The first queue of the overview, and the second. */
const queues = async () => {
  const page = await get('hana', '/');
  const [first = '', second = ''] = page.split('<h2>Waiting for a second person</h2>');
  return { first: first.includes(`/runs/${run_id}"`), second: second.includes(`/runs/${run_id}"`) };
};

test('one reviewer asks, another approves, the first withdraws the games once', async () => {
  expect(await queues()).toEqual({ first: true, second: false });
  expect(await ask('rita', { act: 'all', reason: ' ' })).toContain('reason is empty');
  expect(await ask('rita')).toContain('Requested.');
  expect(await queues()).toEqual({ first: false, second: true });
  expect(await get('rita', `/runs/${run_id}`)).toContain('You cannot approve your own request');
  expect(await act('rita', 'use')).toContain('This is not approved yet');
  expect(await act('rita', 'approve')).toContain('You requested this yourself');
  expect(await act('ada', 'approve')).toContain('403');
  expect(await act('hana', 'approve')).toContain('rita has 15 minutes to do it, once');
  expect(await act('hana', 'use')).toContain('only rita can use the approval');
  expect(await withdrawn()).toBe(0);
  expect(await act('rita', 'use')).toBe(`Games withdrawn: ${GAMES}.`);
  expect(await act('rita', 'use')).toContain('This approval was used');
  expect(await withdrawn()).toBe(GAMES);
  expect((await actionsOn(database.sql, `run:${run_id}`)).filter((each) => !each.includes('refuse'))).toEqual(
    ['rita approval.request', 'hana approval.approve', 'rita approval.use', 'rita run.accept_withdrawals'],
  );
});

test('an administrator asks too, a cancelled or a declined request can be made again', async () => {
  await ask('ada');
  expect(await act('ada', 'cancel')).toContain('The request has ended');
  expect(await queues()).toEqual({ first: true, second: false });
  expect(await get('hana', `/runs/${run_id}`)).toContain('Request to withdraw all of them');
  await ask('ada');
  expect(await get('hana', `/runs/${run_id}`)).not.toContain('Request to withdraw all of them');
  await act('hana', 'decline');
  expect(await queues()).toEqual({ first: true, second: false });
});

test('an application that also fails stays in the first queue for that', async () => {
  await database.sql`
    update applications set failing_since = now() - interval '1 hour', failed_runs = 2 where application_id = ${application_id}`;
  await ask('rita');
  expect(await queues()).toEqual({ first: false, second: true });
  const [first = ''] = (await get('hana', '/')).split('<h2>Waiting for a second person</h2>');
  expect(first).toContain(`/applications/${application_id}"`);
  await act('rita', 'cancel');
});

test('exactly the games that were approved, and nothing if the run changed meanwhile', async () => {
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
  const [first = '', second = ''] = game_ids;
  await ask('hana', { act: 'selected', game: first });
  const other = await openId();
  await ask('rita', { act: 'selected', game: second });
  await act('hana', 'approve');
  expect(await act('rita', 'use')).toBe('Games withdrawn: 1.');
  const [row] = await database.sql`select closed_as from approvals where approval_id = ${other}`;
  expect(row).toEqual({ closed_as: 'void' });
  expect(await queues()).toEqual({ first: true, second: false });
});

const operatorEnv = () => {
  const redisUrl = inject('redisUrl');
  return {
    ...asOperator(database.databaseUrl),
    QUEUE_PREFIX: `{approvals-${randomUUID()}}`,
    ...(redisUrl !== null && { REDIS_URL: redisUrl }),
  };
};

test('the command line obeys the rule: run accept and sync --accept-withdrawals', async () => {
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
  const { sql } = database;
  const starting = operate(startAcceptingRun, { application_id }, KIM, testPlatform(sql));
  await expect(starting).rejects.toThrow('It takes two persons');
  expect(
    await sql`select from sync_runs where application_id = ${application_id} and finished_at is null`,
  ).toHaveLength(0);
});

test('FOUR_EYES=none: sync --accept-withdrawals takes one person, and the audit log says why', async () => {
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

test('an administrator, who may not approve, cancels the own request and declines none of another', async () => {
  await ask('rita');
  expect(await act('ada', 'cancel')).toContain('only rita can cancel it');
  const refused = await act('ada', 'decline');
  expect(refused).toContain('403');
  expect(refused).toContain('This takes the role reviewer');
  expect(await queues()).toEqual({ first: false, second: true });
  expect(await actionsOn(database.sql, `run:${run_id}`)).toContain('ada approval.refuse');
  expect(await act('hana', 'decline')).toContain('The request has ended');
});

test('the id of a run in capitals is the same run: the request is found, and one open request is enough', async () => {
  await ask('rita');
  const path = `/runs/${run_id.toUpperCase()}`;
  const again = await ask('rita', { subject: `run:${run_id.toUpperCase()}` });
  expect(again).toContain('You have requested this already');
  expect(await get('hana', path)).toContain(`/requests/withdrawals/${await openId()}/approve`);
  await act('rita', 'cancel');
});

test('the console neither takes nor approves requests of the KYC desk', async () => {
  const { sql } = database;
  const kyc = { kind: 'erase', subject: `application:${application_id}`, reason: 'x' };
  expect(await post('rita', '/requests', kyc)).toMatch(/^400 /);
  const [row] = await sql<{ approval_id: string }[]>`
    insert into approvals (approval_id, kind, subject, version, reason, requested_by, expires_at)
    values (gen_random_uuid(), 'erase', ${kyc.subject}, '1', 'x', 'rita', now() + interval '1 hour') returning approval_id`;
  const id = row?.approval_id ?? '';
  for (const action of ['approve', 'decline', 'cancel']) {
    expect(await post('hana', `/requests/withdrawals/${id}/${action}`)).toContain(
      `There is no approval "${id}"`,
    );
    expect(await post('hana', `/requests/erase/${id}/${action}`)).toMatch(/^400 /);
  }
  expect(await sql`select approved_at, closed_at from approvals where approval_id = ${id}`).toEqual([
    { approved_at: null, closed_at: null },
  ]);
});
