import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { findOperator } from '#db/queries/operators.ts';
import { collectErrors, hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, startTestConsole, TESTS, type TestConsole } from '#test/support/console.ts';
import {
  goToProvider,
  signInAtProvider,
  startProvider,
  type TestProvider,
} from '#test/support/openid-provider.ts';
import { switchOperator } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

describe.runIf(hasBrowser())('sign-in at an OpenID provider', () => {
  const database = useTestDatabase();
  const browser = useBrowser();
  let provider: TestProvider;
  let served: TestConsole;

  beforeAll(async () => {
    provider = await startProvider('client_secret_post');
    served = await startTestConsole(database, { oidc: provider.settings });
  });
  afterAll(async () => {
    await served?.stop();
    await provider?.stop();
  });

  /** A page of a new browser context. */
  const open = async (): Promise<Page> => {
    const page = await (await browser.newContext()).newPage();
    return page;
  };
  const problem = (page: Page): Promise<string | null> => page.getByRole('alert').textContent();
  const auditOf = async (login: string): Promise<string[]> =>
    (await listAudit(database.sql, { limit: 500 }))
      .filter(({ subject }) => subject === `operator:${login}`)
      .map(({ action }) => action)
      .reverse();

  test('a provider that does not answer is named on the sign-in page, and is asked again', async () => {
    const page = await open();
    await page.goto(`${served.url}/sign-in`);
    await page.getByRole('link', { name: 'Sign in with your organisation' }).click();
    expect(await problem(page)).toBe(
      'The OIDC provider does not answer: retry later, or sign in by password.',
    );
    expect(await page.getByLabel('Password').count()).toBe(1);
    const answer = await fetch(`${served.url}/sign-in/oidc`);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '10']);
    provider.serve(served.url);
    await goToProvider(page, served.url);
  });

  test('an operator gets in with the roles of the groups, where the link led', async () => {
    provider.groups.set('mira', ['everyone', 'games-team']);
    const page = await open();
    const errors = collectErrors(page);
    const asked: URL[] = [];
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.pathname === '/auth' && url.searchParams.has('client_id')) asked.push(url);
    });
    await signInAtProvider(page, served.url, 'mira', '/games?status=pending');
    expect(page.url()).toBe(`${served.url}/games?status=pending`);
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    expect(Object.fromEntries(asked[0]?.searchParams ?? [])).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^.{43}$/),
      state: expect.stringMatching(/^.{43}$/),
      nonce: expect.stringMatching(/^.{43}$/),
    });
    expect(errors.filter((error) => !error.includes('ERR_FAILED'))).toEqual([]);
    expect(await findOperator(database.sql, 'mira@games.example')).toMatchObject({
      name: 'mira of the provider',
      roles: ['reviewer'],
      password_hash: null,
    });
    expect(await auditOf('mira@games.example')).toEqual(['operator.add', 'session.sign_in']);
    expect((await page.goto(`${served.url}/review`))?.status()).toBe(200);
    expect((await page.goto(`${served.url}/audit`))?.status()).toBe(403);
    const cookies = await page.context().cookies(served.url);
    expect(cookies.map(({ name, httpOnly, sameSite }) => ({ name, httpOnly, sameSite }))).toEqual([
      { name: 'catalogue_session', httpOnly: true, sameSite: 'Lax' },
    ]);
  });

  test('a person without a mapped group is refused with a page that names the reason', async () => {
    provider.groups.set('noor', ['everyone']);
    const page = await open();
    await signInAtProvider(page, served.url, 'noor');
    expect(await problem(page)).toBe('None of your groups has a role here: ask an administrator.');
    expect(await findOperator(database.sql, 'noor@games.example')).toBeUndefined();
    expect(await page.context().cookies(served.url)).toEqual([]);
    await page.goto(`${served.url}/games`);
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    expect(await auditOf('noor@games.example')).toEqual(['session.refuse']);
  });

  test('a role that was taken away counts at the next sign-in, which ends the open sessions', async () => {
    provider.groups.set('taro', ['games-team', 'games-leads']);
    const before = await open();
    await signInAtProvider(before, served.url, 'taro', '/audit');
    expect(await before.getByRole('heading', { level: 1 }).textContent()).toBe('Audit log');

    provider.groups.set('taro', ['games-team']);
    await signInAtProvider(await open(), served.url, 'taro');
    expect((await before.goto(`${served.url}/audit`))?.status()).toBe(403);

    provider.groups.set('taro', []);
    const after = await open();
    await signInAtProvider(after, served.url, 'taro');
    expect(await problem(after)).toBe('None of your groups has a role here: ask an administrator.');
    await before.goto(`${served.url}/games`);
    expect(new URL(before.url()).pathname).toBe('/sign-in');
    expect(await findOperator(database.sql, 'taro@games.example')).toMatchObject({ roles: [] });
    expect(await auditOf('taro@games.example')).toEqual([
      'operator.add',
      'session.sign_in',
      'operator.roles',
      'session.sign_in',
      'operator.roles',
      'session.refuse',
    ]);
  });

  test('a disabled operator is refused, and a person of the provider does not become an operator of the command line', async () => {
    provider.groups.set('dara', ['games-team']);
    await signInAtProvider(await open(), served.url, 'dara');
    await switchOperator(database.sql, TESTS, 'dara@games.example', 'disabled');
    const disabled = await open();
    await signInAtProvider(disabled, served.url, 'dara');
    expect(await problem(disabled)).toBe('Your access is disabled: ask an administrator.');

    await addTestOperator(database.sql, 'olga@games.example', 'admin');
    provider.groups.set('olga', ['games-team']);
    const other = await open();
    await signInAtProvider(other, served.url, 'olga');
    expect(await problem(other)).toContain('an operator olga@games.example who signs in another way');
  });

  test('an answer of the provider counts once, with its state, in the browser that asked', async () => {
    provider.groups.set('vera', ['games-team']);
    const page = await open();
    const isAnswer = (url: string): boolean => url.includes('/sign-in/oidc/callback?');
    const [request] = await Promise.all([
      page.waitForRequest((each) => isAnswer(each.url())),
      signInAtProvider(page, served.url, 'vera'),
    ]);
    const answer = request.url();
    expect((await page.goto(answer))?.status()).toBe(403);
    const stranger = await open();
    expect((await stranger.goto(answer))?.status()).toBe(403);
    expect(await problem(stranger)).toBe('This sign-in took too long: sign in again.');
    expect(await stranger.locator('[aria-invalid]').count(), 'fields that are not the problem').toBe(0);
    // The stranger's browser began a sign-in of its own.
    await goToProvider(stranger, served.url);
    expect((await stranger.goto(answer))?.status()).toBe(403);
    expect(await problem(stranger)).toBe('The provider did not confirm the sign-in: sign in again.');
    expect(await stranger.context().cookies(served.url)).toEqual([]);
  });

  test('an operator who signs in too often is told how long to wait, and is not refused for good', async () => {
    provider.groups.set('otto', ['games-team']);
    await database.sql`
      insert into sign_in_attempts (attempt_key, attempts, window_ends_at)
      values ('sign-ins:otto@games.example', 100, now() + interval '90 seconds')`;
    const page = await open();
    const answers: Record<string, string>[] = [];
    page.on('response', (response) => {
      if (response.status() === 429) answers.push(response.headers());
    });
    await signInAtProvider(page, served.url, 'otto');
    expect(await problem(page)).toBe('Too many sign-ins: retry in 2 min.');
    expect(Number(answers[0]?.['retry-after'])).toBeGreaterThan(60);
    expect(await auditOf('otto@games.example')).not.toContain('session.refuse');
  });

  test('who cancels at the provider is back at the sign-in page', async () => {
    const page = await open();
    await goToProvider(page, served.url);
    await page.getByRole('link', { name: 'Cancel' }).click();
    expect(await problem(page)).toBe('The provider did not confirm the sign-in: sign in again.');
  });

  test('a provider that takes the client secret by HTTP Basic only', async () => {
    const basic = await startProvider('client_secret_basic');
    const console = await startTestConsole(database, { oidc: basic.settings });
    try {
      basic.serve(console.url);
      basic.groups.set('bea', ['games-leads']);
      const page = await open();
      await signInAtProvider(page, console.url, 'bea', '/audit');
      expect(page.url()).toBe(`${console.url}/audit`);
    } finally {
      await console.stop();
      await basic.stop();
    }
  });
});
