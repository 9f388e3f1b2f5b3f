import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { alterRole } from '#db/alter-role.ts';
import { type Database, openDatabase } from '#db/client.ts';
import { DATABASE_ROLES, type DatabaseRole, roleName } from '#db/roles.ts';
import { INSUFFICIENT_PRIVILEGE, INVALID_PASSWORD, isPostgresError } from '#db/sqlstate.ts';
import { coerceError } from '#src/errors.ts';

const SCRAM_ITERATIONS = 4_096;

/** Makes what Postgres stores of a password (RFC 5803). The password itself is not sent, because a server may log statements. */
const scramVerifier = (password: string): string => {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, SCRAM_ITERATIONS, 32, 'sha256');
  const keyOf = (text: string) => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  const serverKey = keyOf('Server Key').toString('base64');
  return `SCRAM-SHA-256$${SCRAM_ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
};

/** The URLs that processes connect with, by role. */
export type RoleUrls = Partial<Record<DatabaseRole, string | undefined>>;

const TRY_S = 5;

/** Does Postgres refuse the password of this URL? False if it cannot be reached, or refuses for another reason. */
const refusesPassword = async (url: string): Promise<boolean> => {
  const sql = openDatabase(url, { max: 1, giveUpS: TRY_S, applicationName: 'catalogue migrate' });
  try {
    await sql`select`;
    return false;
  } catch (thrown) {
    return isPostgresError(coerceError(thrown), INVALID_PASSWORD);
  } finally {
    await sql.end({ timeout: TRY_S });
  }
};

/** A role whose URL names the role as its user. */
type Login = { role: DatabaseRole; url: string; password: string };

const findLogins = (urls: RoleUrls): Login[] =>
  DATABASE_ROLES.flatMap((role) => {
    const url = urls[role] ?? '';
    const { username = '', password = '' } = URL.parse(url) ?? {};
    if (decodeURIComponent(username) !== roleName(role) || password === '') return [];
    return [{ role, url, password: decodeURIComponent(password) }];
  });

/** Finds roles that log in already, but not with the password of their URL: with another one, or none. */
const findOtherPasswords = async (sql: Database, logins: readonly Login[]): Promise<DatabaseRole[]> => {
  const rows = await sql<{ name: string }[]>`select rolname as name from pg_roles where rolcanlogin`;
  const refused = await Promise.all(
    logins.map(async ({ role, url }) =>
      rows.some(({ name }) => name === roleName(role)) && (await refusesPassword(url)) ? [role] : [],
    ),
  );
  return refused.flat();
};

const CUT_OFF = 'Running processes with the former ones cannot open connections any more';

/**
 * Lets a role log in with the password of its URL. A URL of another user is left to the administrator.
 * @returns what the administrator must do, in sentences
 */
export const allowLogins = async (sql: Database, urls: RoleUrls): Promise<string[]> => {
  const logins = findLogins(urls);
  const others = await findOtherPasswords(sql, logins);
  const replaced: DatabaseRole[] = [];
  const refused: string[] = [];
  for (const { role, password } of logins) {
    try {
      await alterRole(sql, `alter role ${roleName(role)} login password '${scramVerifier(password)}'`);
      if (others.includes(role)) replaced.push(role);
    } catch (thrown) {
      const error = coerceError(thrown);
      if (!isPostgresError(error, INSUFFICIENT_PRIVILEGE)) throw error;
      refused.push(roleName(role));
    }
  }
  const notes: string[] = [];
  if (replaced.length > 0) {
    const names = replaced.map(roleName).join(', ');
    const variables = replaced.map((role) => `DATABASE_URL_${role.toUpperCase()}`).join(', ');
    notes.push(
      `Replaced the passwords of ${names}, in every database of this server. ${CUT_OFF}: set ${variables} there too, and restart them.`,
    );
  }
  if (refused.length > 0) {
    const names = refused.join(', ');
    const statement = `alter role ${refused[0]} login password '…';`;
    notes.push(
      `The user of DATABASE_URL may not set the passwords of ${names}. If one has no password yet, let a superuser run: ${statement}`,
    );
  }
  return notes;
};
