import { beforeAll, beforeEach } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { closeRun } from '#db/queries/runs.ts';
import { addTestOperator, signIn, useTestConsole } from '#test/support/console.ts';
import { addApplication, anOpenRun, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

/** Games of the run. */
export const GAMES = 12;

/** A console, and before each test a suspect run whose games would all vanish. */
export const useSuspectRuns = () => {
  const database = useTestDatabase();
  const served = useTestConsole(database);
  const cookies: Record<string, string> = {};
  const suspect = { application_id: '', run_id: '', game_ids: [] as string[] };
  let next = 0;
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

  beforeEach(async () => {
    const { sql } = database;
    next += 1;
    const application_id = `app-${next}`;
    await addApplication(sql, application_id);
    const games = Array.from({ length: GAMES }, (_, n) => fetchedGame({ game_id: `g-${n}` }));
    await upsertGames(sql, application_id, games);
    const open = await anOpenRun(sql, application_id);
    await closeRun(sql, open, { outcome: 'suspect', reason: 'all games are gone' });
    await sql`
      insert into vanishing_games (run_id, game_id)
      select ${open.run_id}, game_id from games where application_id = ${application_id}`;
    Object.assign(suspect, {
      application_id,
      run_id: open.run_id,
      game_ids: games.map(({ game_id }) => game_id),
    });
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
      subject: `run:${suspect.run_id}`,
      reason: 'they closed the studio',
      ...form,
    });
  const openId = async (): Promise<string> => {
    const [row] = await database.sql<{ approval_id: string }[]>`
      select approval_id from approvals where subject = ${`run:${suspect.run_id}`} order by requested_at desc limit 1`;
    return row?.approval_id ?? '';
  };
  const act = async (login: string, what: 'approve' | 'cancel' | 'decline' | 'use') => {
    const approval = await openId();
    return what === 'use'
      ? post(login, `/runs/${suspect.run_id}/withdrawals`, { approval })
      : post(login, `/requests/withdrawals/${approval}/${what}`);
  };
  const withdrawn = async (): Promise<number> => {
    const rows =
      await database.sql`select from games where application_id = ${suspect.application_id} and withdrawn_at is not null`;
    return rows.length;
  };
  /** The first queue of the overview, and the second. */
  const queues = async () => {
    const page = await get('hana', '/');
    const [first = '', second = ''] = page.split('<h2>Waiting for a second person</h2>');
    return {
      first: first.includes(`/runs/${suspect.run_id}"`),
      second: second.includes(`/runs/${suspect.run_id}"`),
    };
  };
  return { database, served, suspect, get, post, ask, openId, act, withdrawn, queues };
};
