import { DATABASE_ROLES, roleName } from '#db/roles.ts';

/**
 * The URL of each role, as `migrate` and the processes receive them. The roles belong to the whole cluster, which tests
 * share, so every test gives a role the same password.
 */
export const roleUrls = (databaseUrl: string): Record<string, string> =>
  Object.fromEntries(
    DATABASE_ROLES.map((role) => {
      const url = new URL(databaseUrl);
      url.username = roleName(role);
      url.password = encodeURIComponent(`p@ss/${role}:%`);
      return [`DATABASE_URL_${role.toUpperCase()}`, url.href];
    }),
  );
