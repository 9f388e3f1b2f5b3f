import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Database, openDatabase } from '#db/client.ts';
import { searchMemory, takeHeapSnapshot } from '#test/kyc-desk/memory.ts';
import { hasBrowser, launchProfile } from '#test/support/browser.ts';
import { runCli } from '#test/support/cli.ts';
import { addTestOperator, PASSWORD, signIn, signInPage } from '#test/support/console.ts';
import { addApplication } from '#test/support/factories.ts';
import { type FleetProcess, startFleetProcess } from '#test/support/fleet-process.ts';
import { keysText, PLANTED, store } from '#test/support/kyc.ts';
import { DESK_KEYS } from '#test/support/kyc-desk.ts';
import { formsOf } from '#test/support/kyc-fleet.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/postgres-server.ts';
import { roleUrls } from '#test/support/roles.ts';
import { everyRedisValue, everyRow } from '#test/support/stored.ts';
import { until } from '#test/support/until.ts';

const VALUES = Object.values(PLANTED);
const { cp_id: CP_ID, ...FIELDS } = PLANTED;
/** Every value contains one of these. */
const MARKS = ['anary', 'CNRY'];
const isIn = (text: string, value: string): boolean => formsOf(value).some((form) => text.includes(form));

describe.runIf(hasBrowser())('while the desk shows a record, in processes with a role each', () => {
  let database: TestDatabase;
  let owner: Database;
  let home: string;
  let console_: FleetProcess;
  let desk: FleetProcess;
  let browser: BrowserContext;
  const prefix = `{canaries-${randomUUID()}}`;
  const redisUrl = inject('redisUrl');

  beforeAll(async () => {
    database = await createTestDatabase();
    owner = openDatabase(database.databaseUrl, { max: 2, applicationName: 'canaries' });
    home = await mkdtemp(join(tmpdir(), 'catalogue-canaries-'));
    const urls = roleUrls(database.databaseUrl);
    const shared = {
      ...(redisUrl !== null && { REDIS_URL: redisUrl }),
      QUEUE_PREFIX: prefix,
      CATALOGUE_HOME: join(home, 'home'),
      CONSOLE_PORT: '0',
      KYC_DESK_PORT: '0',
      LOG_LEVEL: 'trace',
    };
    const migrated = await runCli(['migrate'], { ...shared, DATABASE_URL: database.databaseUrl, ...urls });
    expect(migrated).toMatchObject({ exit: 0, stderr: '' });
    await addApplication(owner, 'acme', {}, DESK_KEYS);
    await store(owner, DESK_KEYS, 'acme', PLANTED);
    for (const login of ['kim', 'lee']) await addTestOperator(owner, login, 'kyc_officer');
    await addTestOperator(owner, 'ada', 'admin');
    const own = (role: string) => ({ [role]: urls[role] ?? '' });
    [console_, desk] = await Promise.all([
      startFleetProcess('console', {
        ...shared,
        ...own('DATABASE_URL_CONSOLE'),
        NODE_OPTIONS: '--inspect=127.0.0.1:0',
      }),
      startFleetProcess('kyc-desk', {
        ...shared,
        ...own('DATABASE_URL_KYC_DESK'),
        ENCRYPTION_KEYS: keysText('k1'),
      }),
    ]);
    browser = await launchProfile(join(home, 'profile'));
  });
  afterAll(async () => {
    await browser?.close();
    await Promise.all([console_?.stop(), desk?.stop()]);
    await owner?.end();
    await database?.drop();
    await rm(home, { recursive: true, force: true });
  });

  const visit = (page: Page) => page.goto(`${desk.address}/developers/acme`);

  test('none of ten values is in the console, a log, a queue, a header, the browser’s profile or a table', async () => {
    const headers: string[] = [];
    const stored: string[] = [];
    browser.on('response', async (response) => {
      const all = await response.allHeaders().catch(() => ({}) as Record<string, string>);
      headers.push(response.url(), JSON.stringify(all));
      if (!response.url().includes('/assets/') && all['cache-control'] !== 'no-store')
        stored.push(response.url());
    });
    const lee = await signIn(desk.address, 'lee');
    const page = await browser.newPage();
    await signInPage(page, desk.address, 'kim');
    await visit(page);
    const card = page.locator('.request', {
      has: page.getByRole('heading', { name: 'Reveal', exact: true }),
    });
    await card.getByLabel('Reason').fill('ticket 4711');
    await card.getByRole('button', { name: 'Request to reveal it' }).click();
    await page.getByText('Requested. Another kyc officer').waitFor();
    const [request] = await owner<{ approval_id: string }[]>`select approval_id from approvals`;
    const approved = await fetch(`${desk.address}/requests/reveal/${request?.approval_id}/approve`, {
      method: 'POST',
      headers: { cookie: lee },
    });
    expect(approved.url).toBe(`${desk.address}/developers/acme`);
    await visit(page);
    await page.getByLabel('Your password, again').fill(PASSWORD);
    await page.getByRole('button', { name: 'Reveal for two minutes' }).click();
    for (const value of VALUES) await page.getByText(value, { exact: true }).waitFor();

    // The console shows meanwhile what it can of the same application.
    const ada = await signIn(console_.address, 'ada');
    for (const path of ['/', '/applications/acme', '/audit', '/failures', '/queues/api/queues']) {
      const answer = await fetch(`${console_.address}${path}`, { headers: { cookie: ada } });
      const text = await answer.text();
      expect({ path, status: answer.status, found: VALUES.filter((value) => isIn(text, value)) }).toEqual({
        path,
        status: 200,
        found: [],
      });
    }
    const inDesk = searchMemory(desk.process.pid, Object.values(FIELDS), MARKS);
    const inConsole = searchMemory(console_.process.pid, VALUES, MARKS);
    // The search finds them where they are: in the process of the desk.
    if (inDesk !== undefined) expect(inDesk.length).toBeGreaterThan(0);
    expect(inConsole ?? []).toEqual([]);
    const snapshot = await takeHeapSnapshot(console_.log());
    expect(snapshot).toContain('no inline script, no inline style');
    expect(VALUES.filter((value) => snapshot.includes(value))).toEqual([]);

    await page.getByRole('link', { name: 'Hide now' }).click();
    await page.getByText('Record, masked').waitFor();
    await page.goBack({ waitUntil: 'commit' }).catch(() => null);
    await until('the page is there', () =>
      page.content().then(
        () => true,
        () => false,
      ),
    );
    const back = await page.content();
    expect(VALUES.filter((value) => back.includes(value))).toEqual([]);
    await browser.close();

    expect(stored).toEqual([]);
    const files = (await readdir(join(home, 'profile'), { recursive: true, withFileTypes: true })).filter(
      (each) => each.isFile(),
    );
    expect(files.length).toBeGreaterThan(10);
    const places = [
      { where: 'the log of the console', text: console_.log() },
      { where: 'the log of the desk', text: desk.log() },
      { where: 'a header or an address', text: headers.join('\n') },
      { where: 'Redis', text: redisUrl === null ? '' : await everyRedisValue(redisUrl, prefix) },
      ...Object.entries(await everyRow(owner)).map(([where, rows]) => ({ where, text: rows.join('\n') })),
    ];
    const cpIdColumns = ['content_providers', 'kyc_states'];
    const found = places.flatMap(({ where, text }) =>
      VALUES.filter((value) => !(value === CP_ID && cpIdColumns.includes(where)))
        .filter((value) => isIn(text, value))
        .map((value) => `${value} in ${where}`),
    );
    expect(found).toEqual([]);
    for (const { parentPath, name } of files) {
      const bytes = await readFile(join(parentPath, name));
      const inFile = VALUES.filter(
        (value) => bytes.includes(value) || bytes.includes(Buffer.from(value, 'utf16le')),
      );
      expect({ name, inFile }).toEqual({ name, inFile: [] });
    }
    expect(console_.log() + desk.log()).not.toMatch(/42501|permission denied/);
  });

  test('the role of the desk may do all that its pages do', async () => {
    const [kim, lee] = await Promise.all([signIn(desk.address, 'kim'), signIn(desk.address, 'lee')]);
    const post = async (cookie: string, path: string, form: Record<string, string> = {}) => {
      const answer = await fetch(`${desk.address}${path}`, {
        method: 'POST',
        headers: { cookie },
        body: new URLSearchParams(form),
        redirect: 'manual',
      });
      return decodeURIComponent(answer.headers.get('set-cookie') ?? `${answer.status}`);
    };
    /** Asks, approves and does it. @returns what the page says */
    const both = async (kind: string, seen: string, action: string) => {
      await post(kim, '/requests', { kind, subject: 'application:acme', seen, reason: 'x' });
      const [open] = await owner<
        { approval_id: string }[]
      >`select approval_id from approvals where kind = ${kind}`;
      await post(lee, `/requests/${kind}/${open?.approval_id}/approve`);
      return post(kim, `/developers/acme/${action}`, { approval: open?.approval_id ?? '', cp_id: seen });
    };
    await store(owner, DESK_KEYS, 'acme', { ...PLANTED, cp_id: 'cp-second' });
    expect(await both('cp-id', 'cp-second', 'accept-cp-id')).toContain('Accepted cp-second');
    const [row] = await owner<{ record_id: string }[]>`select record_id from kyc_records`;
    expect(await both('erase', row?.record_id ?? '', 'erase')).toContain('Erased: 1 version.');
    for (const path of ['/', '/requests', '/reveals', '/developers/acme'])
      expect((await fetch(`${desk.address}${path}`, { headers: { cookie: kim } })).status).toBe(200);
    expect(desk.log()).not.toMatch(/42501|permission denied/);
  });
});
