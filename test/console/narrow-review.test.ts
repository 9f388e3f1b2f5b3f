import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { insertMessage } from '#db/queries/threads.ts';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame, KIM } from '#test/support/factories.ts';
import { findOverflow } from '#test/support/inspect-page.ts';
import { decideGames } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

/** Of these widths in columns, in letters that are as wide as any. */
const NAMES = ['長'.repeat(24), '長'.repeat(56), '長'.repeat(100), 'W'.repeat(48), 'W'.repeat(100)];

/** Is this text whole, before the timeline, in a part of the page that cuts nothing? */
const isWhole = (name: string): string => `[...document.querySelectorAll('h1, .prose')].some((each) =>
  each.textContent === ${JSON.stringify(name)} && each.checkVisibility() && each.scrollHeight <= each.clientHeight)`;

describe.runIf(hasBrowser())('review in Chromium, in narrow windows', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database);
  const ids: { fresh: string[]; changed: string[] } = { fresh: [], changed: [] };
  let page: Page;

  beforeAll(async () => {
    const { sql } = database;
    await addApplication(sql, 'acme', { name: 'An application with a long name '.repeat(4).trim() });
    await addTestOperator(sql, 'olga', 'reviewer');
    for (const kind of ['fresh', 'changed'] as const) {
      const games = NAMES.map((game_name, n) => fetchedGame({ game_id: `${kind}-${n}`, game_name }));
      await upsertGames(sql, 'acme', games);
      ids[kind] = games.map(({ game_id }) => game_id);
    }
    const decided = ids.changed.map((game_id) => ({ game_id, revision: 1 }));
    await decideGames(sql, decided, { audit_status: 'passed' }, KIM);
    const changed = NAMES.map((game_name, n) =>
      fetchedGame({ game_id: `changed-${n}`, game_name, game_info: 'Other words.' }, new Date()),
    );
    await upsertGames(sql, 'acme', changed);
    page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    await signInPage(page, served.url, 'olga');
  });

  test.for([390, 768, 1_280])('at %i pixels a long name is whole before the timeline', async (width) => {
    await page.setViewportSize({ width, height: 844 });
    const cut: string[] = [];
    for (const [kind, games] of Object.entries(ids))
      for (const [n, game_id] of games.entries()) {
        await page.goto(`${served.url}/games/${game_id}`);
        if (!(await page.evaluate(isWhole(NAMES[n] ?? '')))) cut.push(`${kind}: ${NAMES[n]}`);
      }
    expect(cut).toEqual([]);
  });

  test('at 390 pixels the form of a rejection is whole, and its buttons are as large as a thumb', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${served.url}/games/${ids.fresh[0]}`);
    const decision = page.locator('#decision');
    const reject = decision.locator('summary');
    for (const button of [decision.getByRole('button', { name: 'Pass' }), reject])
      expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(40);
    await reject.click();
    const send = await decision.getByRole('button', { name: 'Reject' }).boundingBox();
    const note = await decision.getByLabel('Note for operators').boundingBox();
    expect((note?.y ?? 0) + (note?.height ?? 0)).toBeLessThanOrEqual(send?.y ?? 0);
    const form = await decision.locator('.panel-over').boundingBox();
    expect(form?.y).toBeGreaterThanOrEqual(0);
  });

  test('at 390 pixels what changed of a game, and what it was, are two lines of its card', async () => {
    const { sql } = database;
    const of = (text: string) => ({
      game_id: 'all',
      game_name: text,
      game_info: text,
      game_store_pic: [`https://cdn.example/${text}.png`],
    });
    const [before, after] = [fetchedGame(of('before')), fetchedGame(of('after'), new Date())];
    await addApplication(sql, 'moved');
    await upsertGames(sql, 'moved', [before]);
    await decideGames(sql, [{ game_id: before.game_id, revision: 1 }], { audit_status: 'passed' }, KIM);
    await upsertGames(sql, 'moved', [after]);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${served.url}/review?lane=changed&application=moved`);
    await page.getByText('changed: name, pictures, description').waitFor();
    expect((await page.locator('.marks').boundingBox())?.height).toBeLessThan(48);
  });

  test('at 390 pixels the only button of a decision has the whole bar', async () => {
    const { sql } = database;
    const game = fetchedGame({ game_id: 'passed' });
    await upsertGames(sql, 'acme', [game]);
    await decideGames(sql, [{ game_id: game.game_id, revision: 1 }], { audit_status: 'passed' }, KIM);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${served.url}/games/${game.game_id}`);
    expect((await page.getByText('Change to rejected…').boundingBox())?.width).toBeGreaterThan(350);
  });

  // About half of a phone, and 1,280 by 800 pixels at 200 %.
  test.for([
    [390, 440],
    [640, 400],
  ] as const)('in a window of %i × %i pixels the first game of a lane is whole', async ([width, height]) => {
    await page.setViewportSize({ width, height });
    for (const lane of ['new', 'changed']) {
      await page.goto(`${served.url}/review?lane=${lane}`);
      const first = await page.locator('.game-card').first().boundingBox();
      expect((first?.y ?? height) + (first?.height ?? 0)).toBeLessThanOrEqual(height);
    }
  });

  test.for([
    [390, 700],
    [1_280, 360],
  ] as const)(
    'at %i × %i pixels the bar of a lane covers games and has its buttons once one is selected, and stays as high',
    async ([width, height]) => {
      await page.setViewportSize({ width, height });
      await page.goto(`${served.url}/review`);
      const pass = page.getByRole('button', { name: 'Pass' });
      const bar = page.locator('.bulk');
      await page.getByLabel('Select all').waitFor();
      expect(await pass.isVisible()).toBe(false);
      const before = await bar.boundingBox();
      expect(before?.y).toBeGreaterThan(height);
      await page
        .getByLabel(/^Select [長W]/)
        .first()
        .check();
      expect(await pass.isVisible()).toBe(true);
      const after = await bar.boundingBox();
      expect((after?.y ?? 0) + (after?.height ?? 0)).toBeLessThanOrEqual(height);
      expect(Math.abs((after?.height ?? 0) - (before?.height ?? 0))).toBeLessThan(1);
      const [label, count] = await Promise.all(
        ['.checks', 'output'].map(async (part) => {
          const box = await bar.locator(part).first().boundingBox();
          return (box?.y ?? 0) + (box?.height ?? 0) / 2;
        }),
      );
      expect(Math.abs((label ?? 0) - (count ?? 0))).toBeLessThan(2);
    },
  );

  test.for([390, 1_280])('at %i pixels an icon is square, after the pictures and as high', async (width) => {
    await page.setViewportSize({ width, height: 844 });
    await page.goto(`${served.url}/games/${ids.fresh[0]}`);
    // In one look, because the page fetches its pictures again.
    const boxes = await page.locator('.shot .frame').evaluateAll((all) =>
      all.map((each) => {
        const { width, height } = each.getBoundingClientRect();
        return { width, height };
      }),
    );
    const [picture, icon] = [boxes[0], boxes.at(-1)];
    expect(Math.abs((icon?.width ?? 0) - (icon?.height ?? 1))).toBeLessThan(1);
    expect(Math.abs((icon?.height ?? 0) - (picture?.height ?? 0))).toBeLessThan(1);
    expect(picture?.width ?? 0).toBeGreaterThan(picture?.height ?? 0);
  });

  test('the long name of an application is cut, so that the place, the thread and a similar name stay on one line', async () => {
    const [game_id = ''] = ids.fresh;
    await insertMessage(database.sql, { game_id, kind: 'answer', written_by: 'acme', text: 'Soon.' });
    await page.setViewportSize({ width: 1_280, height: 844 });
    await page.goto(`${served.url}/games/${game_id}`);
    const isOnOneLine = async (line: string) =>
      expect((await page.locator(line).first().boundingBox())?.height, line).toBeLessThan(32);
    for (const line of ['.heading .lead', '.thread li > span']) await isOnOneLine(line);
    const { sql } = database;
    await addApplication(sql, 'twin', { name: 'مؤسسة الألعاب الكبرى '.repeat(9).trim() });
    await upsertGames(sql, 'twin', [fetchedGame({ game_id: 'twin', game_name: NAMES[0] ?? '' })]);
    await page.reload();
    await isOnOneLine('.hints .meta');
    expect(await findOverflow(page)).toEqual([]);
  });
});
