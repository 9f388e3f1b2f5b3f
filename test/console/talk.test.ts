// A talk about one game: rejected with a text, answered and appealed in the portal, decided by another reviewer.
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { insertAppeal } from '#db/queries/appeals.ts';
import { findGame, upsertGames } from '#db/queries/games.ts';
import { leadToAppeal } from '#src/console/pages/appeals.ts';
import { collectErrors, hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInDeveloper, signInPage, useTestConsole } from '#test/support/console.ts';
import { addApplication, addToken, fetchedGame } from '#test/support/factories.ts';
import { inspectPage } from '#test/support/inspect-page.ts';
import { decideGames } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const land = async (application_id: string, count: number) => {
  await addApplication(database.sql, application_id);
  const games = Array.from({ length: count }, (_, n) =>
    fetchedGame({ game_id: `g-${n}`, game_name: `Kite ${n}` }),
  );
  await upsertGames(database.sql, application_id, games);
  return games.map(({ game_id }) => game_id);
};

describe.runIf(hasBrowser())('in Chromium', () => {
  const browser = useBrowser();
  const served = useTestConsole(database);
  const at = (path: string): string => new URL(path, served.url).href;
  beforeAll(async () => {
    for (const login of ['olga', 'rui']) await addTestOperator(database.sql, login, 'reviewer');
  });

  const errors: string[][] = [];
  const open = async (): Promise<Page> => {
    const page = await (await browser.newContext({ reducedMotion: 'reduce' })).newPage();
    errors.push(collectErrors(page));
    return page;
  };
  const write = async (page: Page, label: string, text: string, button: string): Promise<void> => {
    await page.getByLabel(label).fill(text);
    await page.getByRole('button', { name: button }).click();
  };

  test('a rejection is answered and appealed; who rejected is led past it; another reviewer overturns or upholds', async () => {
    const { sql } = database;
    const [won = '', lost = ''] = await land('kites', 2);
    const [olga, rui, developer] = [await open(), await open(), await open()];
    await signInPage(olga, served.url, 'olga');
    await signInPage(rui, served.url, 'rui');
    const { token } = await addToken(sql, 'kites');
    await signInDeveloper(developer, served.url, token);

    for (const game_id of [won, lost]) {
      await olga.goto(at(`/games/${game_id}`));
      await olga.getByText('Note for operators…').click();
      // A note is never one button away from its developer.
      expect(await olga.getByRole('button', { name: 'Send to the developer' }).count()).toBe(0);
      await write(olga, 'Note: its developer never reads it', 'Looks like another icon.', 'Keep the note');
      await olga.getByText('The note is kept.').waitFor();
      await olga.locator('shortcut-scope[ready]').waitFor({ state: 'attached' });
      await olga.keyboard.press('r');
      await olga.keyboard.press('5');
      await olga.getByLabel('Text for the developer').fill('Whose icon is this?');
      await olga.keyboard.press('Control+Enter');
      await olga.getByText(/: rejected\./).waitFor();
      await olga.goto(at(`/games/${game_id}`));
      await olga.getByText('Change to passed').waitFor();
      await olga.getByText('Message to the developer…').click();
      expect(await olga.getByRole('button', { name: 'Keep the note' }).count()).toBe(0);
      await write(olga, 'Message: its developer reads it', 'Send us the contract.', 'Send to the developer');
      await olga.getByText('The message is sent.').waitFor();
    }

    for (const id of ['g-0', 'g-1']) {
      await developer.goto(at(`/portal/game?id=${id}`));
      await developer.getByText('Whose icon is this?').first().waitFor();
      const text = await developer.locator('main').innerText();
      expect(text).toContain('Send us the contract.');
      expect(text).not.toMatch(/olga|Looks like another icon/);
      await write(developer, 'Write to the reviewers', 'سلام <b>no</b> \u202emalicious', 'Send');
      await developer.getByText('Sent to the reviewers.').waitFor();
      await developer.getByText('<b>no</b>').waitFor();
      await developer.getByText('Appeal…').click();
      await write(developer, 'Write to the reviewers', 'It is ours: no. 4711.', 'Appeal the rejection');
      await developer.getByText('The appeal waits for another reviewer.').waitFor();
      await developer.getByText('waits for another reviewer.').last().waitFor();
      expect(await developer.getByRole('button', { name: 'Appeal the rejection' }).count()).toBe(0);
    }
    expect(await inspectPage(developer, 'portal-thread')).toEqual([]);

    await olga.goto(at('/review/appeals/next'));
    await olga.getByText('No other appeal waits for you').waitFor();
    await olga.goto(at(`/games/${won}`));
    await olga.getByText('You rejected this game: another reviewer decides the appeal.').waitFor();
    expect(await olga.getByRole('group', { name: /^Decision/ }).count()).toBe(0);
    await olga.goto(at('/review/appeals'));
    expect(await olga.getByText('by you: another reviewer decides').count()).toBe(2);
    expect(await olga.locator('td time').allTextContents()).toEqual(
      Array(2)
        .fill([expect.stringMatching(/^\d+\s(s|min) ago$/), 'in 47\u00a0h'])
        .flat(),
    );

    // What olga had open before the appeals.
    await sql`update game_leases set leased_until = now() - interval '1 second'`;
    await olga.goto(at(`/games/${lost}`));
    await rui.goto(at('/review'));
    await rui.getByRole('link', { name: /^Appeals 2$/ }).click();
    await rui.getByRole('link', { name: 'Start' }).click();
    await rui.getByRole('heading', { name: 'The developer appeals the rejection' }).waitFor();
    await rui.locator('#appeal').getByText('Whose icon is this?').waitFor();
    await rui.getByRole('heading', { name: /^Rejected by olga: / }).waitFor();
    await rui.waitForLoadState();
    await rui.locator('shortcut-scope[ready]').waitFor({ state: 'attached' });
    await rui.keyboard.press('o');
    await rui.getByLabel('Why, for the developer').first().fill('The register has it.');
    await rui.keyboard.press('Control+Enter');
    await rui.getByText('The rejection is overturned: the game is passed.').waitFor();
    await developer.goto(at('/portal/game?id=g-0'));
    await developer.getByRole('heading', { name: 'The game is live' }).waitFor();
    expect((await findGame(sql, won))?.audit_status).toBe('passed');
    await developer.getByText('The register has it.').waitFor();

    await rui.getByRole('heading', { name: 'The developer appeals the rejection' }).waitFor();
    await rui.waitForLoadState();
    await rui.locator('shortcut-scope[ready]').waitFor({ state: 'attached' });
    await rui.keyboard.press('h');
    await rui.getByLabel('Why, for the developer').last().fill('The register has no such number.');
    await rui.keyboard.press('Control+Enter');
    await rui.getByText('The rejection is upheld.').waitFor();
    await developer.goto(at('/portal/game?id=g-1'));
    await developer.locator('.ways').getByText('The register has no such number.').waitFor();
    expect(await developer.getByRole('button', { name: 'Appeal the rejection' }).count()).toBe(0);
    await developer.getByText('A rejection that was appealed is not appealed again.').waitFor();
    expect((await findGame(sql, lost))?.audit_status).toBe('rejected');
    const events = await sql<{ type: string; why: string }[]>`
      select type, data ->> 'why' as why from events where application_id = 'kites' order by event_number desc limit 2`;
    expect(events).toMatchObject([
      { type: 'game.appeal_upheld', why: 'appeal' },
      { type: 'game.passed', why: 'appeal' },
    ]);
    expect(errors.flat()).toEqual([]);
  });
});

test('an appeal that a reviewer has open is led to no other reviewer', async () => {
  const { sql } = database;
  await sql`truncate game_appeals`;
  const [game_id = ''] = await land('one', 1);
  const rejection = { audit_status: 'rejected', reason: 'rights' } as const;
  await decideGames(sql, [{ game_id, revision: 1 }], rejection, { actor: 'kim', actor_kind: 'operator' });
  await insertAppeal(sql, { game_id, text: 'Why?' });
  expect(await leadToAppeal(sql, 'lee')).toBe(`/games/${game_id}`);
  expect(await leadToAppeal(sql, 'mia')).toBeUndefined();
  await sql`update game_leases set leased_until = now() - interval '1 second'`;
  expect(await leadToAppeal(sql, 'mia')).toBe(`/games/${game_id}`);
  expect(await leadToAppeal(sql, 'kim')).toBeUndefined();
});
