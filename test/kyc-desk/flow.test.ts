import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { verifyAudit } from '#db/verify-audit.ts';
import { actionsOn, passMinutes } from '#test/support/approvals.ts';
import { collectErrors, hasBrowser, useBrowser } from '#test/support/browser.ts';
import { documentOf, runCli } from '#test/support/cli.ts';
import { addTestOperator, PASSWORD, signIn, signInPage, TESTS } from '#test/support/console.ts';
import { addApplication } from '#test/support/factories.ts';
import { keysText, PLANTED, store } from '#test/support/kyc.ts';
import { DESK_KEYS, startTestDesk, useTestDesk } from '#test/support/kyc-desk.ts';
import { switchOperator } from '#test/support/operate.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const { cp_id: _cp_id, ...FIELDS } = PLANTED;

describe.runIf(hasBrowser())('two officers at the KYC desk, in Chromium', () => {
  const database = useTestDatabase();
  const browser = useBrowser(['--disable-back-forward-cache']);
  const desk = useTestDesk(database);
  let kim: Page;
  let lee: Page;
  let errors: string[];
  const contexts: BrowserContext[] = [];

  const open = async (login: string, url = desk.url, javaScriptEnabled = true): Promise<Page> => {
    const context = await browser.newContext({ javaScriptEnabled });
    contexts.push(context);
    const page = await context.newPage();
    await signInPage(page, url, login);
    return page;
  };

  beforeAll(async () => {
    const { sql } = database;
    for (const id of ['acme', 'moved', 'gone']) {
      await addApplication(sql, id, {}, DESK_KEYS);
      await store(sql, DESK_KEYS, id, { ...PLANTED, tax_id: `${PLANTED.tax_id}-${id}` });
    }
    for (const login of ['kim', 'lee']) await addTestOperator(sql, login, 'kyc_officer');
    await addTestOperator(sql, 'ada', 'admin');
    await addTestOperator(sql, 'olga', 'kyc_officer', 'admin');
    // The back-forward cache is on, as in the browser of an officer.
    [kim, lee] = await Promise.all([open('kim'), open('lee')]);
    errors = [...collectErrors(kim), ...collectErrors(lee)];
  });

  const visit = async (page: Page, id = 'acme', url = desk.url) => {
    await page.goto(`${url}/developers/${id}`);
  };
  const ask = async (page: Page, what: 'Reveal' | 'Erase' | 'Accept the new cp_id', id = 'acme') => {
    await visit(page, id);
    const card = page.locator('.request', { has: page.getByRole('heading', { name: what, exact: true }) });
    await card.getByLabel('Reason').fill('ticket 4711');
    await card.getByRole('button', { name: /^Request to/ }).click();
    await page.getByText('Requested. Another kyc officer can approve it').waitFor();
  };
  const approveAs = async (page: Page, id = 'acme') => {
    await visit(page, id);
    await page.getByRole('button', { name: 'Approve' }).first().click();
    await page.getByText('Approved.').waitFor();
  };
  const reveal = async (page: Page, password = PASSWORD) => {
    await page.getByLabel('Your password, again').fill(password);
    await page.getByRole('button', { name: 'Reveal for two minutes' }).click();
  };
  const expectNoValue = async (page: Page) => {
    const text = await page.content();
    for (const value of Object.values(FIELDS)) expect(text).not.toContain(value);
  };
  const lastRequest = async (): Promise<string> => {
    const [row] = await database.sql<{ approval_id: string }[]>`
      select approval_id from approvals order by requested_at desc limit 1`;
    return row?.approval_id ?? '';
  };

  test('one asks, the other approves, the first reveals once; the log has each step first', async () => {
    await visit(kim);
    await kim.getByText('Cana••••').first().waitFor();
    await expectNoValue(kim);
    await ask(kim, 'Reveal');
    expect(await kim.getByRole('button', { name: 'Reveal for two minutes' }).count()).toBe(0);
    expect(await kim.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    await lee.goto(desk.url);
    await lee.locator('#approve').getByRole('link', { name: 'acme' }).click();
    await lee.getByText('ticket 4711').first().waitFor();
    await lee.getByRole('button', { name: 'Approve' }).click();
    await lee.getByText('Approved.').waitFor();

    await visit(kim);
    await reveal(kim, 'not the password');
    await kim.getByText('Not revealed: the password is wrong').waitFor();
    await expectNoValue(kim);
    await reveal(kim);
    for (const [field, value] of Object.entries(FIELDS))
      await kim.getByText(field === 'tax_id' ? `${value}-acme` : value, { exact: true }).waitFor();
    expect(await actionsOn(database.sql, 'application:acme')).toEqual([
      'kim approval.request',
      'lee approval.approve',
      'kim approval.use',
      'kim kyc.reveal',
    ]);
    // Away and back: the browser shows it from no cache, and the desk not a second time.
    await kim.goto(`${desk.url}/reveals`);
    await kim.getByRole('cell', { name: 'lee' }).waitFor();
    await kim.goBack().catch(() => null);
    await until('the page is there', () =>
      kim.content().then(
        () => true,
        () => false,
      ),
    );
    await expectNoValue(kim);
    expect(kim.url()).not.toMatch(/Canary|CNRY/);
    await visit(kim);
    await expectNoValue(kim);
    // The history says for what an approval was.
    const done = kim.getByRole('row').filter({ hasText: 'approval.approve' });
    expect(await done.innerText()).toContain('Reveal the record');
  });

  test('a second try, a late one, one’s own approval, an administrator’s and a changed record are refused, and say why', async () => {
    const { sql } = database;
    /** Posts as the page would, if it had the button. */
    const post = (page: Page, path: string, form: Record<string, string>) =>
      page
        .context()
        .request.post(`${desk.url}${path}`, { form, headers: { 'sec-fetch-site': 'same-origin' } });
    const used = await lastRequest();
    const again = await post(kim, '/developers/acme/reveal', { approval: used, password: PASSWORD });
    expect(await again.text()).toContain('This approval was used at');

    await ask(kim, 'Reveal');
    const own = await lastRequest();
    expect(await (await post(kim, `/requests/reveal/${own}/approve`, {})).text()).toContain(
      'You requested this yourself: another operator must approve it, even if you are an administrator.',
    );
    const ada = await fetch(`${desk.url}/requests/reveal/${own}/approve`, {
      method: 'POST',
      headers: { cookie: await signIn(desk.url, 'ada') },
    });
    expect([ada.status, await ada.text()]).toEqual([
      403,
      expect.stringContaining('This takes the role kyc officer'),
    ]);
    await approveAs(lee);
    await passMinutes(sql, own, 16);
    expect(
      await (await post(kim, '/developers/acme/reveal', { approval: own, password: PASSWORD })).text(),
    ).toContain('This approval has expired');

    const olga = await open('olga');
    await ask(olga, 'Reveal');
    expect(await (await post(olga, `/requests/reveal/${await lastRequest()}/approve`, {})).text()).toContain(
      'You requested this yourself: another operator must approve it, even if you are an administrator.',
    );

    await ask(kim, 'Reveal', 'moved');
    await approveAs(lee, 'moved');
    await store(sql, DESK_KEYS, 'moved', { ...PLANTED, cp_name: 'Another name' });
    const changed = { approval: await lastRequest(), password: PASSWORD };
    const late = await (await post(kim, '/developers/moved/reveal', changed)).text();
    expect(late).toContain('has changed since, so the approval is void');
    for (const value of Object.values(FIELDS)) expect(late).not.toContain(value);
    await visit(kim, 'moved');
    await kim.locator('.tags').getByText('tax_id').first().waitFor();
    expect((await listAudit(sql, { action: 'approval.refuse', limit: 50 })).length).toBeGreaterThanOrEqual(5);
  });

  test('erase takes two; a cancelled request can be made again; the command line uses an approval of the desk', async () => {
    const { sql, databaseUrl } = database;
    await ask(kim, 'Erase', 'gone');
    await kim.getByRole('button', { name: 'Cancel the request' }).click();
    await kim.getByText('The request has ended.').waitFor();
    await ask(lee, 'Erase', 'gone');
    await approveAs(kim, 'gone');
    await visit(lee, 'gone');
    await lee.getByRole('button', { name: 'Erase now' }).click();
    await lee.getByText('Erased: 1 version.').waitFor();
    expect(await lee.locator('dt').allInnerTexts()).toContain('Erased');
    expect(await lee.locator('dt').allInnerTexts()).not.toContain('Last pulled');
    expect(await sql`select from kyc_records where application_id = 'gone'`).toHaveLength(0);

    const env = { ...asOperator(databaseUrl), ENCRYPTION_KEYS: keysText('k1') };
    const show = async (...args: string[]) => {
      const given = [
        'kyc',
        'show',
        'acme',
        '--reveal',
        '--by',
        'kim',
        '--reason',
        'ticket 4712',
        '--json',
        ...args,
      ];
      return documentOf(await runCli(given, env));
    };
    expect((await show()).error).toContain(
      'It takes two persons to reveal a KYC record: request it at the KYC desk',
    );
    await ask(kim, 'Reveal');
    await approveAs(lee);
    const id = await lastRequest();
    expect((await show('--approval', id)).record.cp_name).toBe(PLANTED.cp_name);
    expect((await show('--approval', id)).error).toContain('This approval was used');
    const listed = documentOf(await runCli(['audit', 'list', '--action', 'reveal', '--json'], env));
    expect(listed.entries).toMatchObject([
      { actor: 'kim', actor_kind: 'command_line', reason: 'ticket 4712', details: { second_person: 'lee' } },
      { actor: 'kim', actor_kind: 'operator', reason: 'ticket 4711' },
    ]);
    expect((await verifyAudit(sql)).broken).toBeNull();
    expect(errors).toEqual([]);
  });

  test('without script the page leaves by itself, and an officer who was disabled sees nothing more', async () => {
    const { sql } = database;
    const quick = await startTestDesk(database, { revealMs: 2_000, fourEyes: { kinds: [], onceTwo: false } });
    try {
      const page = await open('kim', quick.url, false);
      await page.getByText('FOUR_EYES is none: one person alone can reveal a KYC record').waitFor();
      await visit(page, 'acme', quick.url);
      const card = page.locator('.request', {
        has: page.getByRole('heading', { name: 'Reveal', exact: true }),
      });
      await card.getByLabel('Reason').fill('alone');
      await reveal(page);
      await page.getByText(PLANTED.legal_entity).waitFor();
      await page.waitForURL(`${quick.url}/developers/acme`);
      await page.getByText('Record, masked').waitFor();
      await expectNoValue(page);
      await switchOperator(sql, TESTS, 'kim', 'disabled');
      await visit(page, 'acme', quick.url);
      expect(new URL(page.url()).pathname).toBe('/sign-in');
    } finally {
      await quick.stop();
    }
  });
});
