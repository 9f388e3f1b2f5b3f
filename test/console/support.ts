import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import type { Page } from 'playwright-core';
import { inject } from 'vitest';
import type { Database } from '#db/client.ts';
import type { Actor } from '#db/queries/audit.ts';
import { updateOperator } from '#db/queries/operators.ts';
import { buildConsole } from '#src/console/app.ts';
import type { ConsoleOptions } from '#src/console/options.ts';
import { FOUR_EYES_BY_DEFAULT } from '#src/contract/approvals.ts';
import type { Role } from '#src/contract/roles.ts';
import { addOperator } from '#src/identity/operators.ts';
import { hashPassword } from '#src/identity/password.ts';
import { jobSpecs } from '#src/ingest/specs.ts';
import { openQueueBackend } from '#src/queue/backend.ts';
import { createProducer, type Producer } from '#src/queue/producer.ts';
import { listen } from '#src/roles/listen.ts';
import { openAs } from '#test/support/roles.ts';

export const PASSWORD = 'lantern tram velvet ox';
const passwordHash = hashPassword(PASSWORD);

export const TESTS: Actor = { actor: 'tests', actor_kind: 'system' };

/** Adds an operator who has set `PASSWORD`. */
export const addTestOperator = async (sql: Database, login: string, ...roles: Role[]): Promise<void> => {
  await addOperator(sql, TESTS, { login, name: `${login} of the tests`, roles });
  await updateOperator(sql, login, { password_hash: await passwordHash });
};

export type TestConsole = { url: string; producer: Producer; stop: () => Promise<void> };

/** Starts a console on a free port, over queues of its own in Redis, or in this database. */
export const startTestConsole = async (
  { databaseUrl }: { databaseUrl: string },
  options: Partial<ConsoleOptions> & { prefix?: string } = {},
): Promise<TestConsole> => {
  const { prefix = `console-${randomUUID()}`, ...given } = options;
  const redisUrl = inject('redisUrl') ?? undefined;
  const backend = openQueueBackend({ databaseUrl, redisUrl, prefix, role: 'producer', onError: () => {} });
  await backend.migrate();
  const producer = createProducer(backend, jobSpecs, () => {});
  const own = openAs('console', databaseUrl);
  let url = '';
  const app = await buildConsole({
    sql: own,
    producer,
    url: () => url,
    trustedProxies: [],
    oidc: null,
    fourEyes: FOUR_EYES_BY_DEFAULT,
    logger: pino({ level: 'silent' }),
    ...given,
  });
  url = await listen(app, '127.0.0.1', 0, 'CONSOLE_PORT');
  return {
    url,
    producer,
    stop: async () => {
      await app.close();
      await producer.close();
      await backend.close();
      await own.end({ timeout: 1 });
    },
  };
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

/** Signs a browser in by its form. */
export const signInPage = async (page: Page, url: string, login: string, next = '/'): Promise<void> => {
  await page.goto(new URL(`/sign-in?next=${encodeURIComponent(next)}`, url).href);
  await page.getByLabel('Login').fill(login);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  await page.waitForLoadState();
};
