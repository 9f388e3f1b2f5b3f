// An officer's day: what changed comes first, verdicts are given by keyboard, and a second person approves.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collectErrors, hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInPage } from '#test/support/console.ts';
import { addApplication } from '#test/support/factories.ts';
import { inspectPage } from '#test/support/inspect-page.ts';
import { PLANTED, store } from '#test/support/kyc.ts';
import { DESK_KEYS, startTestDesk, type TestDesk } from '#test/support/kyc-desk.ts';
import { formsOf } from '#test/support/kyc-fleet.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const DEVELOPERS = 50;
const idOf = (n: number): string => `studio-${String(n).padStart(2, '0')}`;
const { cp_id: _cp_id, ...FIELDS } = PLANTED;
const CANARIES = Object.values(FIELDS).flatMap(formsOf);

describe.runIf(hasBrowser())('verdicts at the KYC desk, in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const desks: TestDesk[] = [];
  let errors: string[];

  const openDesk = async (fourEyes: Parameters<typeof startTestDesk>[1]): Promise<TestDesk> => {
    const desk = await startTestDesk(database, fourEyes);
    desks.push(desk);
    return desk;
  };
  const open = async (login: string, { url }: TestDesk): Promise<Page> => {
    const page = await (await browser.newContext({ reducedMotion: 'reduce' })).newPage();
    errors = [...(errors ?? []), ...collectErrors(page)];
    await signInPage(page, url, login);
    return page;
  };
  const standing = () =>
    database.sql<{ application_id: string; verdict: string }[]>`
      select application_id, verdict from kyc_verdicts where ended_at is null order by application_id`;

  beforeAll(async () => {
    const { sql } = database;
    for (let n = 0; n < DEVELOPERS; n += 1) {
      await addApplication(sql, idOf(n), {}, DESK_KEYS);
      await store(sql, DESK_KEYS, idOf(n), { ...PLANTED, tax_id: `${PLANTED.tax_id}-${n}` });
    }
    for (const login of ['kim', 'lee']) await addTestOperator(sql, login, 'kyc_officer');
  });
  afterAll(async () => {
    for (const desk of desks) await desk.stop();
  });

  test('fifty developers are decided on by keyboard, and no value of a record is on a page', async () => {
    const desk = await openDesk({ fourEyes: { kinds: [], onceTwo: false } });
    const page = await open('kim', desk);
    await page.goto(desk.url);
    await page.locator('#waiting a[href^="/developers/"]').first().click();
    for (let n = 0; n < DEVELOPERS; n += 1) {
      await page.getByText('There was no verdict yet.').waitFor();
      await page.keyboard.press('v');
      // No verdict is chosen before: the first letter chooses one.
      if (n === 0) expect(await page.getByLabel('Verdict').inputValue()).toBe('');
      await page.keyboard.press('v');
      await page.keyboard.press('Tab');
      await page.keyboard.type(`register extract ${n}`);
      await page.keyboard.press(n % 2 === 0 ? 'Enter' : 'Control+Enter');
      await page
        .getByText(/^register extract \d+$/)
        .first()
        .waitFor();
      if (n === 0) {
        const text = await page.content();
        for (const canary of CANARIES) expect(text).not.toContain(canary);
      }
      if (n === DEVELOPERS - 1) break;
      const before = page.url();
      await page.keyboard.press('j');
      await page.waitForURL((url) => url.href !== before);
    }
    expect((await standing()).map(({ verdict }) => verdict)).toEqual(Array(DEVELOPERS).fill('verified'));
    await page.goto(desk.url);
    await page.getByText('Every stored record has a verdict.').waitFor();
  });

  test('a record that changed comes first with its changed fields, and two persons decide on it', async () => {
    const { sql } = database;
    await addApplication(sql, 'a-new-one', {}, DESK_KEYS);
    await store(sql, DESK_KEYS, 'a-new-one', PLANTED);
    await store(sql, DESK_KEYS, idOf(7), {
      ...PLANTED,
      tax_id: `${PLANTED.tax_id}-7`,
      opening_bank: 'Another',
    });
    const desk = await openDesk({ fourEyes: { kinds: ['verdict'], onceTwo: false } });
    const [kim, lee] = [await open('kim', desk), await open('lee', desk)];
    await kim.goto(desk.url);
    const first = kim.locator('#waiting tbody tr').first();
    expect(await first.textContent()).toContain('opening_bank');
    expect(await inspectPage(kim, 'desk-verdicts-waiting')).toEqual([]);
    await first.locator('a[href^="/developers/"]').first().click();
    expect(
      await kim.locator('section', { hasText: 'Record, masked' }).locator('dt').first().textContent(),
    ).toBe('opening_bank');
    await kim.keyboard.press('v');
    await kim.keyboard.press('r');
    await kim.keyboard.press('Tab');
    await kim.keyboard.type('the bank was asked');
    await kim.getByLabel('The developer reads').fill('The account is not yours.');
    expect(await inspectPage(kim, 'desk-verdict-form')).toEqual([]);
    await kim.getByLabel('Reason').first().press('Enter');
    await kim.getByText('Requested. Another kyc officer can approve it').waitFor();
    await lee.goto(`${desk.url}/developers/${idOf(7)}`);
    await lee.locator('#requests').getByText('Give the verdict refused').waitFor();
    await lee.getByRole('button', { name: 'Approve' }).click();
    await lee.getByText('Approved.').waitFor();
    await kim.reload();
    await kim.getByRole('button', { name: 'Give the verdict refused' }).click();
    await kim.getByText('studio-07: refused.').waitFor();
    await kim.getByText('The account is not yours.').waitFor();
    expect(await inspectPage(kim, 'desk-verdict-given')).toEqual([]);
    expect((await standing()).find(({ application_id }) => application_id === idOf(7))?.verdict).toBe(
      'refused',
    );
    expect(errors).toEqual([]);
  });
});
