import { beforeAll, describe, expect, test } from 'vitest';
import { FOUR_EYES_KINDS } from '#src/contract/approvals.ts';
import { approve } from '#src/operations/requests.ts';
import { answerBy, askBy } from '#test/support/approvals.ts';
import { collectErrors, hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, PASSWORD, signInPage } from '#test/support/console.ts';
import { addApplication } from '#test/support/factories.ts';
import { inspectPage } from '#test/support/inspect-page.ts';
import { PLANTED, store } from '#test/support/kyc.ts';
import { DESK_KEYS, useTestDesk } from '#test/support/kyc-desk.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const LONG = 'W'.repeat(200);
const IDS = ['lantern-works', 'northwind-play', 'paper-kite', 'studio-mizu', 'velvet-ox'];

describe.runIf(hasBrowser())('every page of the KYC desk', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  const desk = useTestDesk(database, { fourEyes: { kinds: FOUR_EYES_KINDS, onceTwo: true } });

  beforeAll(async () => {
    const { sql } = database;
    for (const id of IDS) {
      await addApplication(sql, id, id === 'paper-kite' ? { name: LONG } : {}, DESK_KEYS);
      await store(sql, DESK_KEYS, id, {
        ...PLANTED,
        tax_id: id === 'velvet-ox' ? 'NL-1' : `TAX-${id.length > 11}`,
      });
    }
    for (const login of ['kim', 'lee']) await addTestOperator(sql, login, 'kyc_officer');
    const ask = (login: string, kind: 'reveal' | 'erase' | 'cp-id', id: string) =>
      askBy(sql, login, {
        kind,
        subject: `application:${id}`,
        reason: 'ticket 4711: the bank asks whether the account is theirs',
      });
    const changes = {
      cp_name: 'Studio Mizu Holdings',
      registered_address: '1 Harbour Road',
      opening_bank: 'Bank',
    };
    await store(sql, DESK_KEYS, 'studio-mizu', { ...PLANTED, ...changes });
    for (const id of ['paper-kite', 'northwind-play'])
      await store(sql, DESK_KEYS, id, { ...PLANTED, cp_id: `cp-of-${id}-2` });
    await ask('lee', 'cp-id', 'northwind-play');
    await ask('lee', 'erase', 'studio-mizu');
    const { approval_id } = await ask('kim', 'reveal', 'studio-mizu');
    await answerBy(sql, 'lee', approve, approval_id);
  });

  test('a long name has two lines', async () => {
    const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } });
    await signInPage(page, desk.url, 'kim');
    const names = page.getByRole('link', { name: LONG });
    for (const name of await names.all()) expect((await name.boundingBox())?.height).toBeLessThan(50);
    expect(await names.count()).toBeGreaterThan(1);
    await page.close();
  });

  test('in light and dark, at every width: axe-core finds nothing, nothing overflows, no error', async () => {
    const context = await browser.newContext({ reducedMotion: 'reduce' });
    const page = await context.newPage();
    const errors = collectErrors(page);
    const problems: string[] = [];
    const look = async (name: string) => void problems.push(...(await inspectPage(page, `desk-${name}`)));
    await page.goto(`${desk.url}/sign-in`);
    await look('sign-in');
    await signInPage(page, desk.url, 'kim');
    for (const [name, path] of Object.entries({
      developers: '/',
      developer: '/developers/studio-mizu',
      'developer-new-cp-id': '/developers/paper-kite',
      requests: '/requests',
      reveals: '/reveals',
      account: '/account',
    })) {
      expect((await page.goto(`${desk.url}${path}`))?.status(), path).toBe(200);
      await look(name);
    }
    expect(await page.locator('nav .count').allTextContents(), 'verdicts and requests').toEqual(['5', '2']);
    await page.goto(`${desk.url}/developers/velvet-ox`);
    // The pointer stays on the button that it opened.
    await page.locator('summary.primary').click();
    await look('verdict');
    await page.goto(`${desk.url}/developers/studio-mizu`);
    await page.getByLabel('Your password, again').fill(PASSWORD);
    await page.getByRole('button', { name: 'Reveal for two minutes' }).click();
    await page.getByText('Record, in clear').waitFor();
    await look('reveal');
    expect(problems).toEqual([]);
    expect(errors).toEqual([]);
    await context.close();
  });
});
