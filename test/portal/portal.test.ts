import { expect, test } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { upsertGames } from '#db/queries/games.ts';
import { revokeToken } from '#db/queries/tokens.ts';
import { fillApplication } from '#test/portal/filled-application.ts';
import { useTestConsole } from '#test/support/console.ts';
import { addApplication, addToken, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const portal = useTestConsole(database);

const call = (path: string, cookie = '', method = 'GET', body?: Record<string, string>) =>
  fetch(new URL(path, portal.url), {
    method,
    redirect: 'manual',
    headers: { cookie },
    ...(body && { body: new URLSearchParams(body) }),
  });
const signIn = async (token: string): Promise<string> => {
  const answer = await call('/portal/sign-in', '', 'POST', { token });
  expect(answer.status).toBe(303);
  const [cookie = ''] = answer.headers.getSetCookie();
  expect(cookie).toMatch(/^catalogue_portal=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/);
  return cookie.split(';')[0] ?? '';
};

const fill = (application_id: string, word: string) => fillApplication(database.sql, application_id, word);

const PAGES = [
  '/portal',
  '/portal/games',
  '/portal/games?status=withdrawn',
  '/portal/runs',
  '/portal/events',
  '/portal/checks',
];

test('a developer finds why a game is rejected and which field is wrong, and no name or note of an operator', async () => {
  const { token } = await fill('amber', 'amber');
  const cookie = await signIn(token);
  const page = async (path: string) => {
    const answer = await call(path, cookie);
    expect(answer.status, path).toBe(200);
    return answer.text();
  };
  const rejected = await page('/portal/games?status=rejected');
  expect(rejected).toContain('Information is missing or incomplete');
  expect(rejected).toContain('amber: the text ends too soon.');
  expect(await page('/portal/game?id=amber-rejected')).toMatch(
    /<h2>Rejected: <span dir="auto">Information is missing or incomplete<.*amber: the text ends too soon\..*Rejected <time/s,
  );
  const broken = await page('/portal/game?id=amber-broken');
  expect(broken).toContain('<h2>The game is not stored: correct game_icon.0, then have the game read</h2>');
  expect(broken.split('query_game_detail failed once'), 'it is said once').toHaveLength(2);
  expect(broken).toContain('game_icon.0 is not an http or https address');
  expect(broken).not.toContain('not_http_url');
  expect(broken).not.toContain('invalid_data');
  expect(broken).toContain('<button class="button primary">Read this game now</button>');
  expect(await page('/portal/game?id=never%20seen')).toMatch(
    /If it is a name, check its spelling\..*If it is the game_id of a new game<\/h2>.*No run of your application has read the whole list yet\. .*The next run is due in \d+ \w+ \(every 30 days\)\./s,
  );
  expect(await page('/portal/game?id=..')).toContain('for “<span dir="auto">..</span>”');
  const all = (await Promise.all([...PAGES, '/portal/game?id=amber-broken'].map(page))).join('');
  for (const secret of ['kim', 'private note', token]) expect(all).not.toContain(secret);
  expect(await page('/portal/events')).toContain('game.rejected');
});

test('a list of games has a next page only if there are more games', async () => {
  const { sql } = database;
  await addApplication(sql, 'elm');
  const { token } = await addToken(sql, 'elm');
  const cookie = await signIn(token);
  const page = async (path: string) => (await call(path, cookie)).text();
  const names = Array.from({ length: 51 }, (_, index) => `elm-${index}`);
  const games = names.map((game_id) => fetchedGame({ game_id }));
  await upsertGames(sql, 'elm', games.slice(0, 50));
  expect(await page('/portal/games')).not.toContain('>Next</a>');

  await upsertGames(sql, 'elm', games.slice(50));
  const first = await page('/portal/games');
  const [, next = ''] = /href="([^"]*cursor=[^"]*)"[^>]*>Next<\/a>/.exec(first) ?? [];
  const second = await page(next.replaceAll('&amp;', '&'));
  const shown = (html: string) =>
    names.filter((name) => html.includes(`<small class="mono">${name}</small>`));
  expect(shown(first)).toHaveLength(50);
  expect([...shown(first), ...shown(second)].sort()).toEqual(names.sort());
  expect(second).not.toContain('>Next</a>');
  expect(first).toContain('>1–50 of 51 games<');
  expect(second).toContain('>51 of 51 games<');
});

test('the head of a column of games turns their order', async () => {
  const { sql } = database;
  await addApplication(sql, 'larch');
  const { token } = await addToken(sql, 'larch');
  const cookie = await signIn(token);
  const games = Array.from({ length: 60 }, (_, index) => fetchedGame({ game_id: `larch-${index}` }));
  await upsertGames(sql, 'larch', games);
  const stored = await sql<{ id: string }[]>`
    select application_game_id as id from games where application_id = 'larch' order by game_id`;
  const ids = stored.map(({ id }) => id);
  const read = async (path: string) => {
    const html = await (await call(path, cookie)).text();
    const [, direction = '', turned = ''] =
      /aria-sort="(\w+)"><a class="sort" href="([^"]*)">First seen</.exec(html) ?? [];
    const shown = [...html.matchAll(/<small class="mono">([^<]*)</g)].map(([, id]) => id);
    return { shown, direction, turned: turned.replaceAll('&amp;', '&') };
  };
  const newest = await read('/portal/games?status=pending');
  expect(newest).toMatchObject({ shown: ids.toReversed().slice(0, 50), direction: 'descending' });
  expect(await read(newest.turned)).toMatchObject({ shown: ids.slice(0, 50), direction: 'ascending' });
});

test('a developer finds the games that vanished, page by page, also when the last one of a page has returned', async () => {
  const { sql } = database;
  const { token } = await fill('fir', 'fir');
  const cookie = await signIn(token);
  const tab = async (cursor?: string) => {
    const query = cursor === undefined ? '' : `&cursor=${cursor}`;
    const html = await (await call(`/portal/games?status=withdrawn${query}`, cookie)).text();
    return {
      html,
      ids: [...html.matchAll(/<small class="mono">([^<]*)</g)].map(([, id]) => id ?? ''),
      next: /cursor=([^"&]+)"[^>]*>Next</.exec(html)?.[1],
    };
  };
  const first = await tab();
  expect(first.ids.toSorted()).toEqual(['fir-unlisted', 'fir-withdrawn']);
  expect(first.next).toBeUndefined();
  expect(first.html).toContain('withdrawn</span> <span class="badge">2</span></a>');
  expect(first.html).toContain('3\u00a0h ago');
  expect(first.html).toContain('Your list no longer names it.<');
  expect(first.html).toContain('Your list no longer names it: first missed ');

  const ids = Array.from({ length: 1_000 }, (_, n) => `fir-gone-${String(n).padStart(4, '0')}`);
  await upsertGames(
    sql,
    'fir',
    ids.map((game_id) => fetchedGame({ game_id })),
  );
  await sql`
    update games set withdrawn_at = now() - substr(application_game_id, 10)::int / 2 * interval '1 second'
    where application_id = 'fir' and application_game_id like 'fir-gone-%'`;
  expect((await tab()).html).toContain('withdrawn</span> <span class="badge">1,000+</span></a>');
  const seen: string[] = [];
  for (let page = await tab(); ; page = await tab(page.next)) {
    seen.push(...page.ids);
    if (page.next === undefined) break;
    const back = seen.at(-1) ?? '';
    await sql`update games set withdrawn_at = null where application_game_id = ${back}`;
  }
  expect(seen).toHaveLength(1_002);
  expect(new Set(seen).size).toBe(1_002);
  expect(seen.slice(-2).toSorted()).toEqual(['fir-unlisted', 'fir-withdrawn']);
});

test("no page, parameter or action shows or changes another application's anything", async () => {
  const mine = await fill('birch', 'birch');
  const other = await fill('cedar', 'cedar');
  const cookie = await signIn(mine.token);
  const rows = async () =>
    JSON.stringify([
      await database.sql`select * from application_checks where application_id = 'cedar'`,
      await database.sql`select * from refresh_requests where application_id = 'cedar'`,
      await database.sql`select * from event_deliveries where application_id = 'cedar' order by event_id`,
    ]);
  const before = await rows();
  const tried: string[] = [];
  const expectNothing = async (path: string, method = 'GET', body?: Record<string, string>) => {
    const answer = await call(path, cookie, method, body);
    // An id that was typed stands in the page that says that there is no such game.
    const typed = decodeURIComponent(path.split('=').at(-1) ?? '');
    const text = (await answer.text()).replaceAll(typed, '');
    expect(answer.status, path).toBeLessThan(500);
    expect(text, path).not.toMatch(/cedar/i);
    tried.push(path);
  };
  for (const path of PAGES) await expectNothing(path);
  for (const id of other.ids) {
    for (const path of PAGES)
      for (const name of ['id', 'cursor', 'sort', 'application', 'application_id', 'status', 'state', 'q'])
        await expectNothing(`${path}${path.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(id)}`);
    await expectNothing(`/portal/game?id=${encodeURIComponent(id)}`);
    for (const path of ['/portal/games/', '/portal/runs/', '/portal/events/', '/portal/checks/'])
      await expectNothing(`${path}${encodeURIComponent(id)}`);
    await expectNothing('/portal/checks', 'POST', { act: 'check', application: id, application_id: id });
    await expectNothing('/portal/game', 'POST', { id, application: 'cedar', application_id: 'cedar' });
    await expectNothing(`/portal/picture?id=${encodeURIComponent(id)}&n=0&application_id=cedar`);
    await expectNothing('/portal/events', 'POST', { event_id: id, application_id: 'cedar' });
    await expectNothing(`/portal/games?q=${encodeURIComponent(id)}`);
  }
  expect(tried.length).toBeGreaterThan(400);
  expect(await rows()).toBe(before);
  const opened = await database.sql`select distinct application_id from application_checks`;
  expect(opened).toEqual([{ application_id: 'birch' }]);
  // The console is for operators.
  for (const path of ['/', '/games', '/applications/cedar', '/queues']) {
    const answer = await call(path, cookie);
    expect([answer.status, answer.headers.get('location')?.startsWith('/sign-in')]).toEqual([303, true]);
  }
});

test('a session ends with sign-out, with its token and with its application, and needs a token of one', async () => {
  const { sql } = database;
  const { token, token_id } = await fill('elder', 'elder');
  const isIn = async (cookie: string) => (await call('/portal', cookie)).status === 200;
  const [first, second] = [await signIn(token), await signIn(token)];
  expect((await call('/portal/sign-out', first, 'POST')).headers.get('location')).toBe('/portal/sign-in');
  expect([await isIn(first), await isIn(second), await isIn('catalogue_portal=x')]).toEqual([
    false,
    true,
    false,
  ]);
  const forged = await fetch(new URL('/portal/checks', portal.url), {
    method: 'POST',
    headers: { cookie: second, 'sec-fetch-site': 'cross-site' },
  });
  expect(forged.status).toBe(403);
  await revokeToken(sql, token_id);
  expect(await isIn(second)).toBe(false);
  expect((await call('/portal/checks', second, 'POST')).status).toBe(401);
  expect((await call('/portal', second)).headers.get('location')).toBe('/portal/sign-in');

  const operator = await addToken(sql, null);
  for (const [typed, why] of [
    [token, 'has expired or is revoked'],
    [operator.token, 'an operator'],
    ['gct_nonsense', 'no API token'],
  ] as const) {
    const answer = await call('/portal/sign-in', '', 'POST', { token: typed });
    expect([answer.status, (await answer.text()).includes(why)]).toEqual([401, true]);
  }
  const log = JSON.stringify(await listAudit(sql, { action: 'session.refuse', limit: 10 }));
  expect(log).toContain('portal: operator token');
  expect(log).not.toContain(token);
  let last = await call('/portal/sign-in', '', 'POST', { token: 'guess' });
  for (let n = 0; n < 12 && last.status === 401; n += 1)
    last = await call('/portal/sign-in', '', 'POST', { token: 'guess' });
  expect(last.status).toBe(429);
  expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
});
