import { beforeAll, expect, test } from 'vitest';
import { type CheckRow, finishCheck } from '#db/queries/application-checks.ts';
import { listAudit } from '#db/queries/audit.ts';
import { upsertEventWebhook } from '#db/queries/event-webhooks.ts';
import { upsertGames } from '#db/queries/games.ts';
import { findApplicationGame } from '#db/queries/timeline.ts';
import { cancelRun } from '#src/operations/runs.ts';
import { addTestOperator, signIn, useTestConsole } from '#test/support/console.ts';
import { addApplication, addToken, fetchedGame } from '#test/support/factories.ts';
import { operateAs } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const LOGIN = 'o.petrova+x@firm.example';
const PAGES = [
  '/portal',
  '/portal/games',
  '/portal/games?status=passed',
  '/portal/games?status=rejected',
  '/portal/games?status=withdrawn',
  '/portal/game?id=passed',
  '/portal/game?id=rejected',
  '/portal/game?id=undone',
  '/portal/game?id=withdrawn',
  '/portal/game?id=never',
  '/portal/runs',
  '/portal/events',
  '/portal/checks',
];

const database = useTestDatabase();
const site = useTestConsole(database);
let operator: string;
let developer: string;

const call = (path: string, cookie: string, body?: Record<string, string>) =>
  fetch(new URL(path, site.url), {
    redirect: 'manual',
    headers: { cookie },
    ...(body && { method: 'POST', body: new URLSearchParams(body) }),
  });
const act = async (path: string, body: Record<string, string>) => {
  const answer = await call(path, operator, body);
  const notice = decodeURIComponent(answer.headers.getSetCookie().join(' '));
  expect([answer.status, notice], path).toEqual([303, expect.stringMatching(/catalogue_notice=(good|undo)/)]);
};
/** The pages that show this text. */
const pagesWith = async (text: string): Promise<string[]> => {
  const found: string[] = [];
  for (const path of PAGES) {
    const answer = await call(path, developer);
    expect(answer.status, path).toBe(200);
    if ((await answer.text()).includes(text)) found.push(path);
  }
  return found;
};

beforeAll(async () => {
  const { sql } = database;
  await addTestOperator(sql, LOGIN, 'admin', 'reviewer');
  operator = await signIn(site.url, LOGIN);
  await addApplication(sql, 'acme');
  const { token } = await addToken(sql, 'acme');
  const signedIn = await call('/portal/sign-in', '', { token });
  developer = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const url = 'https://acme.example/events';
  await upsertEventWebhook(sql, { application_id: 'acme', url, secret: Buffer.alloc(0), secret_keys: [] });
});

test('no page of the portal names the operator who did everything', async () => {
  const { sql } = database;
  const names = ['passed', 'rejected', 'undone', 'withdrawn'];
  await upsertGames(
    sql,
    'acme',
    names.map((name) => fetchedGame({ game_id: name, game_name: `The ${name} game` })),
  );
  const seen = { revision: '1', seen_status: 'pending', note: `a note of ${LOGIN}` };
  for (const name of names) {
    const game = await findApplicationGame(sql, 'acme', name);
    const here = `/games/${game?.game_id}`;
    expect((await call(here, operator)).status).toBe(200);
    await act(`${here}/package`, { url: 'https://cdn.example/package.zip' });
    const isPassed = name === 'passed' || name === 'withdrawn';
    const rejection = { act: 'reject', reason: 'other', text: 'The icon is blurred.' };
    await act(here, { ...seen, ...(isPassed ? { act: 'pass' } : rejection) });
    if (name === 'undone') await act('/undo', {});
  }
  await sql`update games set withdrawn_at = now() where application_game_id = 'withdrawn'`;
  await act('/applications/acme', { act: 'sync' });
  const [open] = await sql<{ run_id: string }[]>`select run_id from sync_runs where finished_at is null`;
  const actor = { actor: LOGIN, actor_kind: 'operator' } as const;
  const producer = async () => site.producer;
  const { run } = await operateAs(sql, actor, cancelRun, { run_id: open?.run_id ?? '' }, { producer });
  expect(run).toMatchObject({ outcome: 'abandoned', reason: 'cancelled by an operator' });
  await act('/applications/acme', { act: 'check' });
  const [check] = await sql<CheckRow[]>`select * from application_checks where application_id = 'acme'`;
  if (check === undefined) throw new Error('no check is open');
  expect(await pagesWith(LOGIN)).toEqual([]);
  await finishCheck(sql, check, { passed: 3 });
  await act('/applications/acme', { act: 'retry_events' });
  for (const state of ['pause', 'resume', 'pause']) await act('/applications/acme', { act: state });

  expect(await pagesWith('petrova')).toEqual([]);
  expect(await pagesWith('firm.example')).toEqual([]);
  expect(await pagesWith('cancelled by an operator')).toEqual(['/portal', '/portal/runs']);
  expect(await pagesWith('3 passed, 0 failed')).toEqual(['/portal/checks']);
  const page = await (await call('/applications/acme', operator)).text();
  expect(page).toContain(`requested by ${LOGIN}`);
  const log = await listAudit(sql, { action: 'run.cancel', limit: 1 });
  expect(log).toMatchObject([{ actor: LOGIN, subject: `run:${run.run_id}` }]);
});
