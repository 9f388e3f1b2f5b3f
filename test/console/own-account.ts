import { pino } from 'pino';
import { beforeAll, beforeEach } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { addTestOperator, signIn, useTestConsole } from '#test/support/console.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

/** A console, and an operator of each test who changes the own sign-in. */
export const useOwnAccount = () => {
  const database = useTestDatabase();
  const logged: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line) => void logged.push(line) });
  const served = useTestConsole(database, { logger });
  let number = 0;
  /** An operator of each test. */
  let login: string;

  beforeAll(async () => {
    await addTestOperator(database.sql, 'vera', 'viewer');
  });
  beforeEach(async () => {
    number += 1;
    login = `olga-${number}`;
    await addTestOperator(database.sql, login, 'viewer');
    await database.sql`delete from sign_in_attempts`;
  });

  const open = (cookie: string, path = '/account') =>
    fetch(`${served.url}${path}`, { headers: { cookie }, redirect: 'manual' });
  const isSignedIn = async (cookie: string): Promise<boolean> => (await open(cookie, '/')).status === 200;
  const post = (cookie: string, path: string, form: Record<string, string>, headers = {}) =>
    fetch(`${served.url}${path}`, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { cookie, ...headers },
      redirect: 'manual',
    });
  const change = (cookie: string, form: Record<string, string>, headers = {}) =>
    post(cookie, '/account/password', form, headers);
  const end = (cookie: string, session: string, headers = {}) =>
    post(cookie, '/account/sessions', { session }, headers);
  const signsInWith = async (password: string): Promise<boolean> =>
    signIn(served.url, login, password).then(
      () => true,
      () => false,
    );
  const audited = (action: string) => listAudit(database.sql, { actor: login, action, limit: 50 });
  return {
    database,
    logged,
    open,
    isSignedIn,
    post,
    change,
    end,
    signsInWith,
    audited,
    url: () => served.url,
    login: () => login,
  };
};
