import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readPictureDelay } from '#src/console/picture-delay.ts';
import { wantPictures } from '#src/console/want-pictures.ts';
import { fetchPictures } from '#src/ingest/specs.ts';
import type { FleetPart } from '#src/processes/fleet-part.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { hasBrowser, LIST_SHIFTS, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signIn, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication } from '#test/support/factories.ts';
import { onBothBackends, startTestFleet } from '#test/support/fleet.ts';
import { landPicturedGames, newPrefix, startTestMedia } from '#test/support/media.ts';
import { type PictureServer, startPictureServer } from '#test/support/pictures.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const database = useTestDatabase();
const prefix = newPrefix();
const served = useTestConsole(database, { prefix });
let server: PictureServer;
let media: FleetPart | undefined;
let ids: string[];
let cookie: string;

beforeAll(async () => {
  server = await startPictureServer();
  await addApplication(database.sql, 'harbour');
  ids = await landPicturedGames(database.sql, server, 'harbour', 2);
  await addTestOperator(database.sql, 'olga', 'reviewer');
  cookie = await signIn(served.url, 'olga');
});
afterAll(async () => {
  await media?.stop();
  await server?.close();
});

const read = async (path: string): Promise<string> => {
  const answer = await fetch(new URL(path, served.url), { headers: { cookie } });
  return answer.text();
};
const queue = () => served.producer.queue(fetchPictures);

onBothBackends('The delay of pictures', (kind) => {
  test('is that of the oldest job, though newer ones wait, or come while it is read', async () => {
    const fleet = await startTestFleet(kind);
    onTestFinished(fleet.stop);
    const jobs = fleet.producer.queue(fetchPictures);
    // Somebody wrote it: it was added at no time of a calendar.
    await jobs.add('forged', { game_ids: [randomUUID()], icons_only: true }, { timestamp: -1e16 });
    expect(await readPictureDelay(fleet.producer)).toEqual({ cause: 'not_taken', since: new Date(0) });
    await jobs.drain();
    const addJob = (timestamp: number) =>
      jobs.add('a job', { game_ids: [randomUUID()], icons_only: true }, { timestamp });
    const since = Date.now() - 6 * 60_000;
    for (const timestamp of [since, Date.now()]) await addJob(timestamp);
    const delay = { cause: 'not_taken', since: new Date(since) };
    expect(await readPictureDelay(fleet.producer)).toEqual(delay);

    const getJobs = jobs.getJobs.bind(jobs);
    jobs.getJobs = async (...range) => {
      await addJob(Date.now());
      return getJobs(...range);
    };
    expect(await readPictureDelay(fleet.producer)).toEqual(delay);
  });
});

test('a page says why pictures are late: no process, a paused queue; it says nothing before, and nothing after', async () => {
  const page = `/games/${ids[0]}`;
  const list = `${page}/pictures?field=game_store_pic&to=1`;
  const fresh = await read(page);
  expect(fresh).toContain('being fetched');
  expect(fresh).not.toContain('media process');

  // The page does not wait for its requests: the game's pictures, and those of the next game.
  await until('both requests', async () => (await queue().getWaitingCount()) === 2);
  const since = new Date(Date.now() - 6 * 60_000);
  await queue().drain();
  const old = { timestamp: since.getTime() };
  await queue().add('an old job', { game_ids: [ids[1]] }, old);
  const utc = `${since.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  const late = await read(page);
  expect(late).toContain('No media process takes picture jobs: the oldest has waited since');
  expect(late).toContain(utc);
  expect(late).toContain('npx catalogue media');
  for (const text of [late, await read(list)]) {
    expect(text).toContain('not fetched yet');
    expect(text).not.toContain('being fetched');
  }
  expect(await read('/')).toContain('No media process takes picture jobs: the oldest has waited since');

  await queue().pause();
  expect(await read(page)).toContain('The queue of picture jobs is paused.');
  await queue().resume();

  media = await startTestMedia(database.databaseUrl, prefix);
  await until('the pictures', async () => (await read(page)).split('class="frame" href').length === 4);
  for (const path of [page, '/']) expect(await read(path)).not.toContain('media process');
});

describe.runIf(hasBrowser())('in Chromium', () => {
  const browser = useBrowser();

  test('nothing moves when pictures are late after all, nor when they come', async () => {
    await media?.stop();
    media = undefined;
    await database.sql`delete from pictures`;
    await queue().pause();
    const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
    await page.addInitScript(LIST_SHIFTS);
    await signInPage(page, served.url, 'olga', `/games/${ids[0]}`);
    const notice = page.locator('.gallery .notice').first();
    await notice.waitFor();
    await queue().resume();
    await page.getByText('being fetched').first().waitFor();
    await queue().pause();
    await page.getByText('not fetched yet').first().waitFor();
    await queue().resume();
    media = await startTestMedia(database.databaseUrl, prefix);
    await page.locator('a.frame').nth(2).waitFor();
    expect(await notice.isHidden()).toBe(true);
    expect(await page.evaluate('shifts')).toEqual([]);
    await page.close();
  });
});

test('after the last request of a page, its pictures are not said to be fetched', async () => {
  await media?.stop();
  media = undefined;
  await database.sql`delete from pictures`;
  const list = `/games/${ids[0]}/pictures?field=game_store_pic&to=1&polls=`;
  expect(await read(`${list}64`)).toContain('hx-trigger="every 15s"');
  const last = await read(`${list}65`);
  expect(last).not.toContain('hx-trigger');
  expect(last).toContain('not fetched yet');
});

test('two pages that begin with the same game and have as many games request the pictures of both', async () => {
  await media?.stop();
  media = undefined;
  await queue().drain();
  const options = { sql: database.sql, producer: served.producer, keepsPictures: false };
  const game = (n: number) => ({
    game_id: `00000000-0000-7000-8000-00000000000${n}`,
    application_id: 'harbour',
    game_icon: [`${server.url}/wanted-${n}.png`],
  });
  for (const second of [2, 3, 3])
    await wantPictures(options as unknown as ConsoleOptions, [game(1), game(second)]);
  await until('both requests', async () => (await queue().getWaitingCount()) === 2);
});

test('pictures that cannot be requested are logged with the cause', async () => {
  const full = Object.assign(new Error('OOM command not allowed'), { name: 'ReplyError' });
  const logged: unknown[] = [];
  const options = {
    sql: database.sql,
    producer: { add: () => Promise.reject(full) },
    logger: { warn: (fields: unknown) => logged.push(fields) },
  };
  const game = { game_id: ids[0] ?? '', application_id: 'harbour', game_icon: [`${server.url}/full.png`] };
  await wantPictures(options as unknown as ConsoleOptions, [game]);
  await until('the warning', async () => logged.length > 0);
  expect(logged).toEqual([{ error: 'the memory of Redis is full (OOM)' }]);
});
