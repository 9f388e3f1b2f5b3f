// What a reviewer sees without scrolling, while pictures come, and what the keys do meanwhile.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { hasBrowser, LIST_SHIFTS, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { openPictures } from '#test/support/shown-pictures.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const WINDOW = { width: 1_280, height: 800 };

describe.runIf(hasBrowser())('the page of a game, in a window of 1,280 by 800 pixels', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const served = useTestConsole(database, { keepsPictures: true });

  beforeAll(async () => {
    await addTestOperator(database.sql, 'olga', 'reviewer');
    for (const id of ['app', 'copycat']) await addApplication(database.sql, id);
  });

  /** Stores a game with an icon and pictures. @returns its id and the addresses */
  const land = async (application_id: string, name: string, count: number) => {
    const shots = Array.from(
      { length: count },
      (_, n) => `https://cdn.example/${application_id}-${name}-${n}.png`,
    );
    const icon = `https://cdn.example/${application_id}-${name}.png`;
    const game = fetchedGame({
      game_id: `${name} ${count}`,
      game_name: name,
      game_icon: [icon],
      game_store_pic: shots,
    });
    await upsertGames(database.sql, application_id, [game]);
    return { game_id: game.game_id, urls: [icon, ...shots] };
  };
  const open = async (path: string) => {
    const context = await browser.newContext({ viewport: WINDOW });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.addInitScript(LIST_SHIFTS);
    await signInPage(page, served.url, 'olga', path);
    await page.locator('shortcut-scope[ready]').waitFor({ state: 'attached' });
    return page;
  };

  test('nothing moves when the pictures come; the key that passes says before why it does not', async () => {
    const { game_id, urls } = await land('app', 'Harbour Lights', 3);
    const page = await open(`/games/${game_id}`);
    const pass = page.getByRole('button', { name: 'Pass' });
    expect(await pass.isDisabled()).toBe(true);
    const placeOf = async (name: string) => (await page.getByRole('button', { name }).boundingBox())?.x;
    const undo = await placeOf('Undo');
    await page.keyboard.press('p');
    await page.getByRole('status').getByText('The game can be passed when its pictures').waitFor();
    const pictures = openPictures(database.sql, ['app']);
    for (const [n, url] of urls.entries()) await pictures.show(url, n + 5);
    pictures.close();
    await database.sql`update picture_contents set stored = 'seen'`;
    await expect.poll(() => pass.isEnabled()).toBe(true);
    await page.locator('.gallery img').nth(3).waitFor();
    expect(await page.evaluate('shifts')).toEqual([]);
    expect(await placeOf('Undo')).toBe(undo);
    await page.getByRole('status').getByText('The game can be passed').waitFor({ state: 'detached' });
  });

  test('Ctrl+Enter sends a note, which stays while another key is pressed; the filter of the lane stays', async () => {
    const { game_id } = await land('app', 'Paper Kite', 0);
    const page = await open(`/games/${game_id}?lane=new&application=app&q=kite`);
    const note = page.getByLabel('Note: its developer never reads it');
    await page.getByText('Note for operators…').click();
    await page.keyboard.type('Looks like another one.');
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.keyboard.press('u');
    expect(await note.inputValue()).toBe('Looks like another one.');
    await note.focus();
    await page.keyboard.press('Control+Enter');
    await page.getByText('The note is kept.').waitFor();
    const { searchParams } = new URL(page.url());
    expect([searchParams.get('lane'), searchParams.get('application'), searchParams.get('q')]).toEqual([
      'new',
      'app',
      'kite',
    ]);
  });

  test.each([2, 5, 8, 10, 15])(
    'with %i pictures, a similar name of another application is on it',
    async (count) => {
      await land('copycat', 'Velvet Ox', 1);
      const { game_id } = await land('app', 'Velvet Ox', count);
      const page = await open(`/games/${game_id}`);
      const hint = page.getByRole('heading', { name: 'Another application has a similar name' });
      const box = await hint.boundingBox();
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(WINDOW.height - 60);
    },
  );
});
