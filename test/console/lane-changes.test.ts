import { beforeAll, expect, test } from 'vitest';
import { setDecisionRules } from '#db/queries/decision-rules.ts';
import { upsertGames } from '#db/queries/games.ts';
import { addTestOperator, signIn, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';
import { openPictures } from '#test/support/shown-pictures.ts';
import { SIGNED_ADDRESSES } from '#test/support/signed-addresses.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const served = useTestConsole(database);
let cookie: string;

beforeAll(async () => {
  await addTestOperator(database.sql, 'olga', 'reviewer');
  cookie = await signIn(served.url, 'olga');
});

const get = async (path: string): Promise<string> =>
  (await fetch(new URL(path, served.url), { headers: { cookie } })).text();

/** The lines of marks of the first card. */
const marksOf = (page: string): string[] => {
  const [card = ''] = /<li class="game-card".*?<\/li>/s.exec(page) ?? [];
  return [...card.matchAll(/<div class="marks">(.*?)<\/div>/gs)].map(([, line = '']) =>
    line
      .replaceAll(/<time[^>]*>[^<]*<\/time>/g, 'AGO')
      .replaceAll(/<[^>]*>/g, '')
      .trim(),
  );
};

test('a card of the changed lane says what the game was and what changed, and not what was only signed anew', async () => {
  const [{ address, again } = { address: '', again: '' }] = SIGNED_ADDRESSES;
  await addApplication(database.sql, 'app');
  const before = fetchedGame({
    game_id: 'g',
    game_name: 'Kite',
    game_icon: [address],
    game_store_pic: ['https://cdn.example/one.png'],
  });
  await upsertGames(database.sql, 'app', [before]);
  await decideGame(database.sql, { game_id: before.game_id, audit_status: 'passed' });
  const after = fetchedGame(
    {
      game_id: 'g',
      game_name: 'Kite',
      game_info: 'Another text.',
      game_icon: [again],
      game_store_pic: ['https://cdn.example/two.png'],
    },
    new Date(),
  );
  await upsertGames(database.sql, 'app', [after]);
  expect(marksOf(await get('/review?lane=changed'))).toEqual(['was passed changed: pictures, description']);
  expect(await get(`/games/${before.game_id}?lane=changed`)).toContain('>was passed<');
});

test('the page of a game marks what changed in the address of its video, and links to the video as it is now', async () => {
  await addApplication(database.sql, 'films');
  const video = (name: string) => ({
    game_id: 'g',
    game_store_video: `https://video.example/watch?v=${name}`,
  });
  const before = fetchedGame(video('former'));
  await upsertGames(database.sql, 'films', [before]);
  await decideGame(database.sql, { game_id: before.game_id, audit_status: 'passed' });
  await upsertGames(database.sql, 'films', [fetchedGame(video('latter'), new Date())]);
  const page = await get(`/games/${before.game_id}?lane=changed`);
  expect(page).toContain('watch?v=<del>former</del><ins>latter</ins>');
  expect(page).toContain('<a href="https://video.example/watch?v=latter" rel="noreferrer');
});

test('a card says when its game is due, and overdue in place of a time that has passed', async () => {
  const { sql } = database;
  await addApplication(sql, 'late');
  await upsertGames(sql, 'late', [fetchedGame({ game_id: 'g' })]);
  const card = async () =>
    /<div class="of">.*?<\/div>/s
      .exec(await get('/review?lane=new&application=late'))?.[0]
      .replaceAll(/<[^>]*>/g, '')
      .trim();
  expect(await card()).toMatch(/^due in 4[78]\sh\s*Acme Games$/);
  await setDecisionRules(sql, { games_need_verdict: false, review_target_ms: 1 });
  expect(await card()).toMatch(/^overdue\s*Acme Games$/);
  await setDecisionRules(sql, { games_need_verdict: false, review_target_ms: 48 * 3_600_000 });
});

test('of a game whose addresses and texts are the same, a picture was replaced', async () => {
  await addApplication(database.sql, 'bytes');
  const pictures = openPictures(database.sql, ['bytes']);
  const picture = 'https://cdn.example/bytes.png';
  const game = fetchedGame({ game_id: 'g', game_store_pic: [picture] });
  await upsertGames(database.sql, 'bytes', [game]);
  await pictures.show(picture, 1);
  await decideGame(database.sql, { game_id: game.game_id, audit_status: 'passed' });
  await pictures.replace(picture, 2);
  pictures.close();
  expect(marksOf(await get('/review?lane=changed&application=bytes'))).toEqual([
    'was passed changed: picture replaced',
  ]);
});

test('a game whose content is again as it was when it was decided on has no change', async () => {
  await addApplication(database.sql, 'again');
  const first = fetchedGame({ game_id: 'g' });
  await upsertGames(database.sql, 'again', [first]);
  await decideGame(database.sql, { game_id: first.game_id, audit_status: 'passed' });
  for (const game_info of ['Another text.', undefined])
    await upsertGames(database.sql, 'again', [
      fetchedGame({ game_id: 'g', ...(game_info && { game_info }) }, new Date()),
    ]);
  expect(marksOf(await get('/review?lane=changed&application=again'))).toEqual([
    'was passed changed: nothing',
  ]);
});

test('a gallery says how each description begins, in its language, and how far the page reaches', async () => {
  await addApplication(database.sql, 'many');
  const games = Array.from({ length: 30 }, (_, n) =>
    fetchedGame({ game_id: `${n}`, game_name: `boat ${n}`, game_info: 'سلام <b>'.repeat(100) }),
  );
  await upsertGames(database.sql, 'many', games);
  const path = '/review?lane=new&application=many';
  const first = await get(`${path}&view=gallery`);
  expect(first).toMatch(/<p class="blurb" dir="auto" lang="ar">سلام &lt;b&gt;/);
  expect(/<p class="blurb"[^>]*>([^<]*)</.exec(first)?.[1]?.length).toBeLessThan(1_000);
  expect(first).toContain('>The first 24 of 30<');
  const [, next = ''] = /href="([^"]*)">Next</.exec(first) ?? [];
  const second = await get(next.replaceAll('&amp;', '&'));
  expect(second).toContain('>25–30 of 30 games<');
  expect(second).not.toMatch(/The first \d/);
  const list = await get(path);
  expect(list).not.toContain('class="blurb"');
  expect(list).not.toMatch(/The first \d/);
});

test('a card and the page of a game mark an icon of another application, letters that look alike and contacts', async () => {
  const { sql } = database;
  for (const id of ['original', 'copier']) await addApplication(sql, id);
  const icon = 'https://cdn.example/shared.png';
  const land = async (application_id: string, game_id: string, game_name: string, game_info = 'Play.') => {
    const game = fetchedGame({ game_id, game_name, game_icon: [icon], game_store_pic: [], game_info });
    await upsertGames(sql, application_id, [game]);
    return game.game_id;
  };
  const copied = await land('copier', 'copied', 'Harb\u043Er', 'Write to me@example.com');
  await land('copier', 'own', 'Kite of the copier');
  const lane = async () => marksOf(await get('/review?lane=new&application=copier&q=Harb'));
  expect(await lane()).toEqual(['look-alike letters']);
  const pictures = openPictures(sql, ['original', 'copier']);
  await pictures.show(icon, 7);
  pictures.close();
  expect(await lane(), 'another game of the same application is no mark').toEqual(['look-alike letters']);
  await land('original', 'first', 'Chess');
  await sql`
    insert into game_icon_hashes (game_id, dhash)
    select g.game_id, 4711 from games g where application_id in ('original', 'copier')
    on conflict (game_id) do update set dhash = 4711`;
  expect(await lane()).toEqual(['same icon elsewhere look-alike letters']);
  const page = await get(`/games/${copied}`);
  const marks = [...page.matchAll(/<a class="badge warn" href="#([\w-]+)">([^<]*)<\/a>/g)];
  expect(marks.map(([, to, word]) => [word, to])).toEqual([
    ['same icon elsewhere', 'same-icon'],
    ['look-alike letters', 'hints'],
    ['contacts', 'hints'],
  ]);
  for (const [, to] of marks) expect(page).toContain(`id="${to}"`);
});
