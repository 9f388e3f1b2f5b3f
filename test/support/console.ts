import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, inject } from 'vitest';
import type { Database } from '#db/client.ts';
import type { Actor } from '#db/queries/audit.ts';
import { updateOperator } from '#db/queries/operators.ts';
import { buildConsole } from '#src/console/app.ts';
import type { Role } from '#src/contract/roles.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { addOperator } from '#test/support/operate.ts';
import { openAs } from '#test/support/roles.ts';
import { serveSite, type TestSite } from '#test/support/site.ts';

export const PASSWORD = 'lantern tram velvet ox';
/** Its hash with the least memory and one pass: a verification then takes no time. */
export const PASSWORD_HASH =
  '$argon2id$v=19$m=8,t=1,p=1$AQEBAQEBAQEBAQEBAQEBAQ$6QX1o5hOun2NHnFTrX2IE+8JUqAFGiw6YWLZeHbkOhc';

export const TESTS: Actor = { actor: 'tests', actor_kind: 'system' };

/** Adds an operator who has set `PASSWORD`, and who counts as the second person at once. */
export const addTestOperator = async (sql: Database, login: string, ...roles: Role[]): Promise<void> => {
  await addOperator(sql, TESTS, { login, name: `${login} of the tests`, roles });
  await updateOperator(sql, login, { password_hash: PASSWORD_HASH });
  await sql`update operators set counts_at = now() where login = ${login}`;
};

export type TestConsole = TestSite;

/** Starts a console with its own rights on a free port, over queues of its own in Redis, or in this database. */
export const startTestConsole = async (
  { databaseUrl }: { databaseUrl: string },
  options: Partial<ConsoleOptions> & { prefix?: string; redisUrl?: string } = {},
): Promise<TestConsole> => {
  const {
    prefix = `console-${randomUUID()}`,
    redisUrl = inject('redisUrl') ?? undefined,
    ...given
  } = options;
  const sql = openAs('console', databaseUrl);
  const place = { sql, databaseUrl, redisUrl, prefix };
  const site = await serveSite(place, (each) => buildConsole({ ...each, ...given }));
  return { ...site, stop: () => site.stop().then(() => sql.end({ timeout: 1 })) };
};

/** A console for the tests of one file or `describe`: started before them, stopped after them. It is empty until then. */
export const useTestConsole = (
  database: { databaseUrl: string },
  options?: Parameters<typeof startTestConsole>[1],
): TestConsole => {
  const served = {} as TestConsole;
  beforeAll(async () => void Object.assign(served, await startTestConsole(database, options)));
  afterAll(() => served.stop?.());
  return served;
};

/** Signs in by password. @returns the cookie */
export const signIn = async (url: string, login: string, password = PASSWORD): Promise<string> => {
  const answer = await fetch(new URL('/sign-in', url), {
    method: 'POST',
    body: new URLSearchParams({ login, password }),
    redirect: 'manual',
  });
  if (answer.status !== 303) throw new Error(`sign-in answered ${answer.status}`);
  return answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
};

/** Signs a browser in with what the form sends, and opens a page. */
export const signInPage = async (page: Page, url: string, login: string, next = '/'): Promise<void> => {
  const form = { login, password: PASSWORD };
  const answer = await page.context().request.post(new URL('/sign-in', url).href, { form, maxRedirects: 0 });
  if (answer.status() !== 303) throw new Error(`sign-in answered ${answer.status()}`);
  await page.goto(new URL(next, url).href);
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
};

/** Signs a browser in at the portal, as a developer does. */
export const signInDeveloper = async (page: Page, url: string, token: string): Promise<void> => {
  await page.goto(new URL('/portal/sign-in', url).href);
  await page.getByLabel('API token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
};
