import { type Database, openDatabase } from '#db/client.ts';
import { DATABASE_ROLES, type DatabaseRole, roleName } from '#db/roles.ts';

/**
 * The URL of a role. The roles belong to the whole cluster, which tests share, so every test gives a role the same
 * password.
 */
export const urlOfRole = (databaseUrl: string, role: DatabaseRole): string => {
  const url = new URL(databaseUrl);
  url.username = roleName(role);
  url.password = encodeURIComponent(`p@ss/${role}:%`);
  return url.href;
};

/** What a command of a test is given: it runs with the rights of the operator's role, as in a fleet with roles. */
export const asOperator = (databaseUrl: string) => ({
  DATABASE_URL: databaseUrl,
  DATABASE_URL_OPERATOR: urlOfRole(databaseUrl, 'operator'),
});

/** The URL of each role, as `migrate` and the processes receive them. */
export const roleUrls = (databaseUrl: string): Record<string, string> =>
  Object.fromEntries(
    DATABASE_ROLES.map((role) => [`DATABASE_URL_${role.toUpperCase()}`, urlOfRole(databaseUrl, role)]),
  );

/** A pool with the rights of the process that the test stands for. Test databases are made with the roles. */
export const openAs = (role: DatabaseRole, databaseUrl: string, max = 6): Database =>
  openDatabase(urlOfRole(databaseUrl, role), { max, applicationName: `${role} of a test` });
