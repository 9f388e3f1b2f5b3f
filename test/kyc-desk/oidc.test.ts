import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addApplication } from '#test/support/factories.ts';
import { PLANTED, store } from '#test/support/kyc.ts';
import { DESK_KEYS, startTestDesk, type TestDesk } from '#test/support/kyc-desk.ts';
import { signInAtProvider, startProvider, type TestProvider } from '#test/support/openid-provider.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

describe.runIf(hasBrowser())('an officer who signs in at an OpenID provider', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  let provider: TestProvider;
  let desk: TestDesk;

  beforeAll(async () => {
    await addApplication(database.sql, 'acme', {}, DESK_KEYS);
    await store(database.sql, DESK_KEYS, 'acme', PLANTED);
    provider = await startProvider('client_secret_post');
    desk = await startTestDesk(database, {
      oidc: { ...provider.settings, roles: new Map([['kyc-team', ['kyc_officer']]]) },
      fourEyes: { kinds: [], onceTwo: false },
    });
    provider.serve(desk.url);
    provider.groups.set('kira', ['kyc-team']);
  });
  afterAll(async () => {
    await desk?.stop();
    await provider?.stop();
  });

  const card = (page: Page) =>
    page.locator('.request', { has: page.getByRole('heading', { name: 'Reveal', exact: true }) });

  test('signs in anew for each reveal: the provider asks for the credentials again, and it counts once', async () => {
    const page = await (await browser.newContext()).newPage();
    await signInAtProvider(page, desk.url, 'kira', '/developers/acme');
    // A sign-in just now proves as much as a fresh one; it grows old.
    await database.sql`update operator_sessions set confirmed_at = confirmed_at - interval '6 minutes'`;
    await page.reload();
    expect(await card(page).getByRole('button').count()).toBe(0);
    const forged = await page.context().request.post(`${desk.url}/developers/acme/reveal`, {
      form: { reason: 'x', password: '' },
      headers: { 'sec-fetch-site': 'same-origin' },
    });
    expect(await forged.text()).toContain('your fresh sign-in is older than five minutes');

    await page.goto(`${desk.url}/developers/acme`);
    await card(page).getByRole('link', { name: 'Sign in again' }).click();
    await page.getByPlaceholder('Enter any login').fill('kira');
    await page.getByPlaceholder('and password').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    const consent = page.getByRole('button', { name: 'Continue' });
    await consent.or(card(page)).first().waitFor();
    if (await consent.isVisible()) await consent.click();
    await card(page).getByLabel('Reason').fill('ticket 4711');
    await card(page).getByRole('button', { name: 'Reveal for two minutes' }).click();
    await page.getByText(PLANTED.legal_entity).waitFor();
    await page.getByRole('link', { name: 'Hide now' }).click();
    await card(page).getByRole('link', { name: 'Sign in again' }).waitFor();
  });
});
