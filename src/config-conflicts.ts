/** Variables of the environment that conflict, or that are in quotes. */

const OIDC_VARIABLES = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_ROLES'] as const;

/**
 * A shell, `.env` and Compose take the quotes away; `docker run --env-file` and the Secrets of Kubernetes keep them.
 * PAGER is a command of a shell, which may need them.
 */
const isQuoted = (name: string, value = ''): boolean => name !== 'PAGER' && /^(["']).*\1$/.test(value);

/** @param names of every variable @returns the problems of variables that conflict, or that are in quotes */
export const findConflicts = (present: NodeJS.ProcessEnv, names: readonly string[]): string[] => {
  const problems = names
    .filter((name) => isQuoted(name, present[name]))
    .map((name) => `${name} is in quotes, which are a part of its value here: remove them`);
  const oidc = OIDC_VARIABLES.filter((name) => present[name] !== undefined);
  if (oidc.length > 0 && oidc.length < OIDC_VARIABLES.length) {
    const missing = OIDC_VARIABLES.filter((name) => present[name] === undefined);
    problems.push(`${oidc.join(', ')} set without ${missing.join(', ')}: sign-in by OIDC needs all of them`);
  }
  if (oidc.length > 0 && present.CONSOLE_URL === undefined && present.KYC_DESK_URL === undefined)
    problems.push(
      'OIDC_ISSUER needs CONSOLE_URL (and the KYC desk KYC_DESK_URL), the address to which the provider returns the browser',
    );
  const hasDatabase = Object.keys(present).some((name) => name.startsWith('DATABASE_URL'));
  if (present.REDIS_URL !== undefined && !hasDatabase) {
    problems.push('REDIS_URL is set without DATABASE_URL: a fleet needs both, the embedded default neither');
  }
  const { PICTURE_STORE, PICTURE_STORE_ENDPOINT, PICTURE_PUBLIC_URL } = present;
  if (PICTURE_STORE_ENDPOINT !== undefined && !PICTURE_STORE?.startsWith('s3:'))
    problems.push('PICTURE_STORE_ENDPOINT is set without a PICTURE_STORE that begins with s3://');
  // The embedded default has a store.
  if (PICTURE_PUBLIC_URL !== undefined && PICTURE_STORE === undefined && hasDatabase)
    problems.push(
      'PICTURE_PUBLIC_URL is set without PICTURE_STORE: it is where readers find what the store has',
    );
  for (const name of ['PGSSL', 'PGSSLMODE']) {
    if (present[name] !== undefined) problems.push(`${name} is set: write sslmode in DATABASE_URL instead`);
  }
  if (present.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    problems.push(
      'NODE_TLS_REJECT_UNAUTHORIZED is 0: it would send access tokens to unverified servers; unset it',
    );
  }
  return problems;
};
