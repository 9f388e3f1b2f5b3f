// What the forms of a decision send, as a browser sends it, and what the page says then.
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { addTestOperator, signIn, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const served = useTestConsole(database);
let cookie: string;

beforeAll(async () => {
  await addTestOperator(database.sql, 'olga', 'reviewer');
  cookie = await signIn(served.url, 'olga');
});

let next = 0;
const land = async (count: number) => {
  next += 1;
  const application_id = `app-${next}`;
  await addApplication(database.sql, application_id);
  const games = Array.from({ length: count }, (_, n) =>
    fetchedGame({ game_id: `g-${n}`, game_name: `${application_id} ${n}` }),
  );
  await upsertGames(database.sql, application_id, games);
  return games.map(({ game_id }) => game_id);
};
const withdraw = (game_id: string | undefined) =>
  database.sql`update games set withdrawn_at = now() where game_id = ${game_id ?? ''}`;
const get = async (path: string): Promise<string> =>
  (await fetch(new URL(path, served.url), { headers: { cookie } })).text();
type Form = readonly (readonly [name: string, value: string])[];
const bodyOf = (form: Form) => new URLSearchParams(form.map(([name, value]) => [name, value]));
/** Posts a form. @returns what the next page says */
const post = async (path: string, form: Form) => {
  const answer = await fetch(new URL(path, served.url), {
    method: 'POST',
    headers: { cookie },
    body: bodyOf(form),
    redirect: 'manual',
  });
  const notice = answer.headers.getSetCookie().find((each) => each.startsWith('catalogue_notice='));
  return `${answer.status} ${decodeURIComponent(notice?.split(';')[0]?.split('=')[1] ?? '').replace(/^\w+ /, '')}`;
};
const select = (game_ids: readonly string[]) => game_ids.map((game_id) => ['game', `${game_id}@1`] as const);
/** Also the games that were not opened. */
const UNOPENED = ['unopened', 'decide'] as const;
const decisionsOn = (game_ids: readonly string[]) =>
  database.sql<{ text: string | null; note: string | null }[]>`
    select text, note from game_audits where game_id = any(${game_ids as string[]}::uuid[])`;

test('a game that is withdrawn while its page is open is not decided, and the page says why', async () => {
  const [game_id = ''] = await land(1);
  await withdraw(game_id);
  const form = [
    ['act', 'pass'],
    ['revision', '1'],
    ['seen_status', 'pending'],
  ] as const;
  expect(await post(`/games/${game_id}`, form)).toBe(
    '303 Nothing was decided: the game is withdrawn. Its application no longer lists it, or was removed.',
  );
  expect(await decisionsOn([game_id])).toEqual([]);
  const events = await database.sql`select type from events where game_id = ${game_id}`;
  expect(events).toMatchObject([{ type: 'game.withdrawn' }]);
});

test('of many games those that are withdrawn, decided or changed meanwhile are not decided, and are counted', async () => {
  const game_ids = await land(5);
  const [decided = '', withdrawn, changed = ''] = game_ids;
  await decideGame(database.sql, { game_id: decided, audit_status: 'passed' });
  await withdraw(withdrawn);
  await database.sql`update games set revision = 2 where game_id = ${changed}`;
  const form = [['lane', 'new'], ['act', 'pass'], UNOPENED, ...select(game_ids)] as const;
  const causes = '1 moved meanwhile, 1 decided meanwhile, 1 withdrawn';
  const named = [0, 1, 2].map((n) => `app-${next} ${n}`).join(', ');
  expect(await post('/review', form)).toBe(`303 2 passed. 3 not decided (${causes}): ${named}.`);
  expect(await decisionsOn(game_ids.slice(1))).toHaveLength(2);
});

test('a batch asks before it decides on games that the reviewer has not opened, and its results stay in the lane', async () => {
  const game_ids = await land(3);
  const [opened = '', moved = '', last = ''] = game_ids;
  await get(`/games/${opened}`);
  const lane = await get('/review?lane=new&view=gallery');
  expect(lane.match(/>not opened</g)).toHaveLength(lane.split('class="game-card"').length - 2);
  expect(lane.match(/>opened</g)).toHaveLength(1);
  const send = (...more: Form) =>
    fetch(new URL('/review', served.url), {
      method: 'POST',
      headers: { cookie },
      body: bodyOf([['view', 'gallery'], ['act', 'pass'], ...select(game_ids), ...more]),
      redirect: 'manual',
    });
  const asked = await send();
  expect(asked.status).toBe(200);
  const page = await asked.text();
  expect(page).toContain('You have not opened 2 of the 3 selected games.');
  expect(page.match(/name="game" value="[0-9a-f-]{36}@1"/g)).toHaveLength(3);
  // Enter decides on no game that was not opened, and no list of names stands before the buttons.
  expect(page.match(/<[^>]* autofocus/g)).toEqual([
    '<button class="button primary" name="unopened" value="leave" autofocus',
  ]);
  expect(page.indexOf('Pass all 3')).toBeLessThan(
    page.indexOf('aria-label="Games that you have not opened"'),
  );
  expect(await decisionsOn(game_ids)).toHaveLength(0);
  expect((await send(['unopened', 'leave'])).status).toBe(303);
  expect(await decisionsOn(game_ids)).toHaveLength(1);
  expect(await decisionsOn([opened])).toHaveLength(1);
  await database.sql`update games set revision = 2 where game_id = ${moved}`;
  const answer = await send(['unopened', 'decide']);
  const location = answer.headers.get('location') ?? '';
  expect(location).toBe(`/review?view=gallery&moved=${[opened, moved].join('%2C')}`);
  expect(await decisionsOn([last])).toHaveLength(1);
  expect((await get(location)).match(/>not decided</g)).toHaveLength(1);
});

test('content that came while a page was open is not opened, though the page still says who looks', async () => {
  const [game_id = ''] = await land(1);
  const application_id = `app-${next}`;
  const [, poll = ''] = /hx-get="([^"]*\/viewers[^"]*)"/.exec(await get(`/games/${game_id}`)) ?? [];
  const lane = () => get(`/review?lane=new&view=gallery&application=${application_id}`);
  expect(await lane()).toContain('>opened<');
  const later = new Date(Date.now() + 60_000);
  await upsertGames(database.sql, application_id, [
    fetchedGame({ game_id: 'g-0', game_info: 'Other.' }, later),
  ]);
  await database.sql`update game_revisions set fetched_at = now() - interval '1 hour' where game_id = ${game_id}`;
  await get(poll);
  expect(await lane()).not.toContain('>opened<');
  const form = [
    ['act', 'pass'],
    ['view', 'gallery'],
    ['game', `${game_id}@2`],
  ] as const;
  expect(await post('/review', form)).toBe('200 ');
  expect(await decisionsOn([game_id])).toEqual([]);
  await get(`/games/${game_id}`);
  expect(await lane()).toContain('>opened<');
  // Another tab has the former content.
  await get(poll);
  expect(await lane()).toContain('>opened<');
});

test('texts at their longest arrive, in any script, with line breaks as browsers send them', async () => {
  const game_ids = await land(60);
  const lines = 'x\r\n'.repeat(1_999);
  const han = '夜'.repeat(4_000);
  const emoji = '\u{1f3b2}'.repeat(4_000);
  for (const [text, note, kept] of [
    [`${lines}xx`, '', `${'x\n'.repeat(1_999)}xx`],
    [han, han, han],
    [emoji, emoji, emoji],
  ] as const) {
    const some = game_ids.splice(0, 20);
    const absent = Array.from({ length: 40 }, () => randomUUID());
    const form = [
      ...[
        ['lane', 'new'],
        ['act', 'reject'],
        ['reason', 'other'],
        ['text', text],
        ['note', note],
      ],
      UNOPENED,
      ...select([...some, ...absent]),
    ] as [string, string][];
    expect(await post('/review', form)).toContain('303 20 rejected. 40 not decided');
    expect((await decisionsOn(some)).map((row) => row.text)).toEqual(Array(20).fill(kept));
  }
});

test('a browser rejects nothing without a reason, and keeps the text; the form of many games passes without one', async () => {
  const [game_id = ''] = await land(1);
  for (const path of [`/games/${game_id}`, '/review?lane=new'])
    expect(await get(path)).toMatch(/<input type="radio" name="reason" value="incomplete" required/);
  expect(await get('/review?lane=new')).toMatch(/value="pass"[^>]*\s+formnovalidate>/);
});

test('an undo of a batch leads back to the gallery that it was made in', async () => {
  const game_ids = await land(2);
  const form = [
    ['lane', 'new'],
    ['view', 'gallery'],
    ['act', 'pass'],
    UNOPENED,
    ...select(game_ids),
  ] as const;
  expect(await post('/review', form)).toBe('303 2 passed.');
  const undone = await fetch(new URL('/undo', served.url), {
    method: 'POST',
    headers: { cookie },
    body: new URLSearchParams({ lane: 'new', view: 'gallery' }),
    redirect: 'manual',
  });
  expect(undone.headers.get('location')).toBe('/review?lane=new&view=gallery');
});

test('a decision of a lane with filters at their longest is made and undone', async () => {
  const game_ids = await land(2);
  const longest = '夜'.repeat(512);
  const filters = [
    ['lane', 'new'],
    ['application', longest],
    ['q', longest],
  ] as const;
  expect(await post('/review', [...filters, ['act', 'pass'], UNOPENED, ...select(game_ids)])).toContain(
    '303 2 passed.',
  );
  expect(await post('/undo', filters)).toContain('303 2 undone.');
});

test('a decision on a game that does not exist leads back to the lane with its filters', async () => {
  for (const id of [randomUUID(), 'no-id']) {
    const answer = await fetch(new URL(`/games/${id}`, served.url), {
      method: 'POST',
      headers: { cookie },
      body: new URLSearchParams({
        act: 'pass',
        revision: '1',
        seen_status: 'pending',
        lane: 'changed',
        application: 'app-1',
        q: 'kite',
      }),
      redirect: 'manual',
    });
    expect(answer.headers.get('location')).toBe('/review?lane=changed&application=app-1&q=kite');
  }
});

test('a reviewer whose game was decided meanwhile goes on with the next one of the lane', async () => {
  const [first = '', second = ''] = (await land(2)).toSorted();
  const lane = { lane: 'new', application: `app-${next}` };
  const page = await get(`/games/${first}?${new URLSearchParams(lane)}`);
  const cursor = /name="cursor" value="([^"]+)"/.exec(page)?.[1] ?? '';
  await decideGame(database.sql, { game_id: first, audit_status: 'passed' });
  const answer = await fetch(new URL(`/games/${first}`, served.url), {
    method: 'POST',
    headers: { cookie },
    body: new URLSearchParams({ act: 'pass', revision: '1', seen_status: 'pending', cursor, ...lane }),
    redirect: 'manual',
  });
  expect(answer.headers.get('location')).toContain(`/games/${second}?`);
  const [notice = ''] = answer.headers.getSetCookie();
  expect(decodeURIComponent(notice)).toContain('kim decided meanwhile. This is the next game.');
  expect(await get(`/games/${first}?lane=new&after=x`)).not.toContain('data-key="j"');
});
