import sharp from 'sharp';
import { expect, test } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { upsertGames } from '#db/queries/games.ts';
import { findPictures } from '#db/queries/pictures.ts';
import { insertMessage } from '#db/queries/threads.ts';
import { arrive } from '#test/portal/developer.ts';
import { useTestConsole } from '#test/support/console.ts';
import { fetchedGame } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';
import { openPictures } from '#test/support/shown-pictures.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const portal = useTestConsole(database);

const requests = (application_id: string) =>
  database.sql<{ application_game_id: string; requested_at: Date }[]>`
    select application_game_id, requested_at from refresh_requests where application_id = ${application_id}
    order by application_game_id`;

test('a developer has a game pulled: a flood of requests is one, and moves nothing to the end', async () => {
  const { said } = await arrive(database.sql, portal.url, 'ash', [{ game_id: 'one' }, { game_id: 'two' }]);
  expect(await said('/portal/game', { id: 'one' })).toMatch(/^good The game is read within seconds/);
  const [first] = await requests('ash');
  for (let n = 0; n < 20; n += 1)
    expect(await said('/portal/game', { id: 'one' })).toMatch(/^info It is requested already/);
  expect(await requests('ash')).toEqual([first]);
  expect(await said('/portal/game', { id: 'never listed' })).toMatch(
    /^good The game is not stored, so your list/,
  );
  expect(await said('/portal/game', { id: 'another' })).toMatch(/^info It is requested already/);
  expect((await requests('ash')).map((each) => each.application_game_id)).toEqual(['', 'one']);
  await database.sql`update applications set status = 'paused' where application_id = 'ash'`;
  expect(await said('/portal/game', { id: 'two' })).toMatch(/^bad The platform has paused your application/);
  expect(await requests('ash')).toHaveLength(2);
});

test('a developer has one check a minute, also if it ends without a report: each is an entry of the audit log', async () => {
  const { sql } = database;
  const { said } = await arrive(sql, portal.url, 'alder');
  expect(await said('/portal/checks', {})).toMatch(/^good The checks have begun/);
  await sql`update application_checks set finished_at = now(), error = 'no key'`;
  expect(await said('/portal/checks', {})).toMatch(/^bad Not started/);
  expect(await listAudit(sql, { action: 'application.check', limit: 10 })).toHaveLength(1);
});

test('a developer sees the pictures of own games alone, as the platform has them', async () => {
  const { sql } = database;
  const url = 'https://cdn.example/shared.png';
  const other = 'https://cdn.example/other.png';
  const mine = await arrive(database.sql, portal.url, 'cypress', [
    { game_id: 'c-1', game_icon: [url], game_store_pic: [other] },
  ]);
  const theirs = await arrive(database.sql, portal.url, 'dogwood', [
    { game_id: 'd-1', game_icon: [url], game_store_pic: [] },
  ]);
  const pictures = openPictures(sql, ['dogwood']);
  await pictures.show(url, 7);
  pictures.close();
  const unseen = await mine.page('/portal/game?id=c-1');
  expect(unseen).not.toContain('<div class="frame"><img');
  expect(unseen.split('<div class="frame">not fetched yet<'), 'each has its place').toHaveLength(3);
  for (const field of ['game_icon.0', 'game_store_pic.0'])
    expect(unseen).toContain(`<figcaption><span class="mono">${field}</span>`);
  expect(unseen, 'the name of the file is seen').toContain(`title="${url}">…/shared.png</span>`);
  const failing = openPictures(sql, ['cypress']);
  await failing.fail(other);
  failing.close();
  const broken = await mine.page('/portal/game?id=c-1');
  expect(broken).toMatch(/"frame warn">not found \(404\)</);
  expect(broken).toContain('<span class="badge warn">1 of 2 cannot be fetched</span>');
  expect((await mine.call('/portal/picture?id=c-1&n=0')).status).toBe(404);
  for (const path of [
    '/portal/picture?id=d-1&n=0',
    '/portal/picture?id=c-1&n=9',
    '/portal/picture?id=c-1&n=x',
  ])
    expect((await mine.call(path)).status, path).toBe(404);
  const { sha256 } = (await findPictures(sql, [{ application_id: 'dogwood', url }])).get({
    application_id: 'dogwood',
    url,
  }) ?? { sha256: '' };
  expect((await mine.call(`/pictures/${sha256}?w=256`)).headers.get('location')).toMatch(/^\/sign-in/);

  const page = await theirs.page('/portal/game?id=d-1');
  const [, src = ''] = /<img src="([^"]*)" alt="Icon 1 of 1"/.exec(page) ?? [];
  const picture = await theirs.call(src.replaceAll('&amp;', '&'));
  expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/webp']);
  // As large as its frame, not 256 pixels wide.
  expect((await sharp(await picture.arrayBuffer()).metadata()).width).toBe(1_024);
  // Lists show the icon, and the page of a game too.
  const listed = await theirs.page('/portal/games');
  const [, icon = ''] = /class="picture tiny" aria-hidden="true"><img src="([^"]*)"/.exec(listed) ?? [];
  const small = await theirs.call(icon.replaceAll('&amp;', '&'));
  expect((await sharp(await small.arrayBuffer()).metadata()).width).toBe(64);
  expect(page).toContain('class="picture large" aria-hidden="true"><img ');
  expect(await mine.page('/portal/games')).toMatch(/class="picture tiny" aria-hidden="true">[^<]</);

  // The bytes that are shown were fetched before the time that is named now.
  expect(page).toMatch(/<span>fetched <time/);
  const late = openPictures(sql, ['dogwood']);
  await sql`update pictures set fresh_until = null where url = ${url}`;
  await late.fail(url);
  late.close();
  const kept = await theirs.page('/portal/game?id=d-1');
  expect(kept).toContain('<span class="warn">last request: not found (404)</span>');
  expect(kept).toMatch(/<span>requested <time/);
  expect(kept).not.toMatch(/<span>fetched <time/);
});

test('a message of an operator whose login is the id of the application is not said to be the developer’s', async () => {
  const { page, said } = await arrive(database.sql, portal.url, 'elm', [{ game_id: 'e-1' }]);
  const blank = { id: 'e-1', act: 'message', text: ' \n ' };
  expect(await said('/portal/game/thread', blank)).toBe('bad Write a message first.');
  const [game] = await database.sql<
    { game_id: string }[]
  >`select game_id from games where application_id = 'elm'`;
  const { game_id = '' } = game ?? {};
  for (const kind of ['message', 'answer'] as const)
    await insertMessage(database.sql, { game_id, kind, written_by: 'elm', text: kind });
  const shown = await page('/portal/game?id=e-1');
  expect(shown).toMatch(/<strong dir="auto">The platform<\/strong> <span class="badge info">message</);
  expect(shown).toMatch(/<strong dir="auto">You<\/strong> <span class="badge info">answer</);
});

test('a game begins with the search for another one, why it was rejected and its appeal; its texts are as they are stored', async () => {
  const { sql } = database;
  const game_info = `One lamp.\n\n${'A boat. '.repeat(100)}The end.`;
  const { page } = await arrive(sql, portal.url, 'yew', [{ game_id: 'y-1', game_info }]);
  const found = await sql<{ game_id: string }[]>`select game_id from games where application_id = 'yew'`;
  await decideGame(sql, {
    game_id: found[0]?.game_id ?? '',
    audit_status: 'rejected',
    reason: 'incomplete',
    text: 'It stops.',
  });
  const shown = await page('/portal/game?id=y-1');
  const places = [
    'role="search"',
    '<section class="card bad">',
    ': <span dir="auto">Information is missing or incomplete</span></h2>',
    '<blockquote dir="auto">It stops.</blockquote>',
    'It returns to review when its content changes.',
    '<button class="button ">Read this game now</button>',
    '<a class="button" href="#write">Appeal or write</a>',
    '<h2>Timeline</h2>',
    'Rejected at revision 1.',
    'A message does not return the game to review: changed content does, or your one appeal',
    '<button class="button " name="act" value="message">Send as a message',
    '<summary class="button">Appeal…</summary>',
    'This is your one appeal of this decision.',
    '"button " name="act" value="appeal">Appeal the rejection</button>',
    game_info,
    '<h2>Game</h2>',
  ].map((part) => shown.indexOf(part));
  expect(shown.split('It stops.'), 'it is said once').toHaveLength(2);
  expect(shown, 'a text of a few paragraphs is whole').not.toContain('class="begun"');
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  await sql`update applications set status = 'paused' where application_id = 'yew'`;
  const paused = await page('/portal/game?id=y-1');
  expect(paused).toContain('It is read when the platform resumes your application');
  expect(paused).not.toContain('then have it read');
});

test('a game begins with one state: live, withdrawn, or not stored', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'ivy', [{ game_id: 'i-1' }, { game_id: 'i-2' }]);
  const head = async (id: string) => {
    const shown = await page(`/portal/game?id=${id}`);
    const lead = /<p class="lead">(.*?)<\/p>/s.exec(shown)?.[1] ?? '';
    const badges = [...lead.matchAll(/class="badge [a-z]*">([^<]*)/g)].map(([, word]) => word);
    return [
      ...badges,
      /<section class="card ([a-z]*)">\s*<div class="card-head"><h2>(.*?)<\/h2>/s
        .exec(shown)
        ?.slice(1)
        .join(': '),
    ];
  };
  expect(await head('i-1')).toEqual([
    'pending',
    'info: The game is not live: it waits for its first decision',
  ]);
  const [game] = await sql<
    { game_id: string }[]
  >`select game_id from games where application_game_id = 'i-1'`;
  await decideGame(sql, { game_id: game?.game_id ?? '', audit_status: 'passed' });
  expect(await head('i-1')).toEqual(['passed', 'good: The game is live']);
  const live = await page('/portal/game?id=i-1');
  expect(live).toContain('You need not do anything.');
  expect(live).toContain('none set: the game is live without it');
  await sql`update games set withdrawn_at = now() where application_game_id = 'i-1'`;
  expect(await page('/portal/game?id=i-1')).not.toContain('the game is live');
  await sql`update games set withdrawn_at = null where application_game_id = 'i-1'`;
  await sql`update games set withdrawn_at = now() where application_game_id = 'i-2'`;
  expect(await head('i-2')).toEqual([
    'withdrawn',
    'warn: The game is withdrawn: your application no longer lists it',
  ]);
  expect(await page('/portal/game?id=i-2')).toContain('Put it back in your list, then have it read');
  const now = { game_id: 'i-1', game_name: 'Another name', game_info: 'New.' };
  await upsertGames(sql, 'ivy', [fetchedGame(now, new Date())]);
  const [status, title] = await head('i-1');
  expect([status, title]).toEqual([
    'pending',
    'info: The game is not live: it was passed at revision 1, has changed since, and waits for a decision',
  ]);
  const changed = await page('/portal/game?id=i-1');
  expect(changed).toContain('What changed: <span class="mono">game_name, game_info</span>');
  expect(changed).toContain('Read this game now</button>');
  await sql`update applications set status = 'paused' where application_id = 'ivy'`;
  const paused = await page('/portal/game?id=i-1');
  expect(paused).not.toContain('Read this game now</button>');
  expect(paused).toContain('<a class="button" href="/portal/runs">See why</a>');
  expect(paused, 'the pause comes first').toMatch(
    /card bad">.*does not read your games<.*This page shows what was read before\..*card info">/s,
  );
  expect(paused, 'it says nothing of when the list is read').not.toContain('The platform reads your list');
  await sql`update applications set status = 'active' where application_id = 'ivy'`;
  expect(await head('none'), 'a slip is no alarm').toEqual([undefined]);
  const none = await page('/portal/game?id=none');
  expect(none).not.toContain('<h2>Timeline</h2>');
  expect(none).toContain('<h1>No game found</h1>');
  expect(none).toContain('for “<span dir="auto">none</span>”');
  expect(none).toMatch(/new game<.*class="button ">Read this game now</s);
  expect(none, 'who looked for a name').toContain('If it is a name, check its spelling.');
  expect(await page('/portal/game?id=a'), 'too short for a beginning').toContain('Type more of it');
  await sql`update applications set status = 'paused', pause_reason = 'ten runs failed' where application_id = 'ivy'`;
  const unread = await page('/portal/game?id=none');
  expect(unread).toContain('check its spelling');
  expect(unread).toContain('A new game_id is found once the platform reads your list again.');
  expect(unread, 'the banner leads to why').not.toContain('ten runs failed');
  await sql`update applications set status = 'active', failing_since = now() where application_id = 'ivy'`;
  expect(await head('none')).toEqual(['bad: The platform cannot read your list']);
});
