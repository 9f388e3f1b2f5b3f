/** What an administrator does to operators, each with its entry in the audit log: for the console and the command line. */
import type { Database, Queryable } from '#db/client.ts';
import { type Actor, recordAudit } from '#db/queries/audit.ts';
import { insertOperator, lockOperator, type OperatorRow, updateOperator } from '#db/queries/operators.ts';
import { deleteLinksOf, deleteSessionsOf, insertLink } from '#db/queries/sign-in.ts';
import type { AuditAction } from '#src/contract/audit.ts';
import type { Role } from '#src/contract/roles.ts';
import { CatalogueError, UsageError } from '#src/errors.ts';
import { createSecret, hashSecret } from '#src/identity/secrets.ts';

export const LINK_LIFETIME_MS = 15 * 60_000;

const LOGIN = /^[a-z0-9][a-z0-9._@+-]{0,99}$/;

/** @returns the login in lower case @throws UsageError */
export const parseLogin = (text: string): string => {
  const login = text.trim().toLowerCase();
  if (LOGIN.test(login)) return login;
  throw new UsageError(
    `"${text}" is not a login: use a-z, 0-9 and . _ @ + -, at most 100 characters, beginning with a letter or digit.`,
  );
};

const createLink = async (tx: Queryable, login: string, sets_password: boolean): Promise<string> => {
  const secret = createSecret();
  await insertLink(tx, {
    link_hash: hashSecret(secret),
    login,
    sets_password,
    lifetime_ms: LINK_LIFETIME_MS,
  });
  return secret;
};

/** The address of a one-time sign-in link. @param consoleUrl the public address of the console */
export const signInUrl = (consoleUrl: string, secret: string): string =>
  new URL(`/sign-in?link=${secret}`, consoleUrl).href;

/** Writes what happened to an operator. */
export const recordOperator = (
  tx: Queryable,
  actor: Actor,
  action: AuditAction,
  login: string,
  details?: Record<string, unknown>,
): Promise<void> =>
  recordAudit(tx, [{ ...actor, action, subject: `operator:${login}`, ...(details && { details }) }]);

/** Works on one operator, locked, in a transaction. @throws UsageError if there is no such operator */
const onOperator = <Result>(
  sql: Database,
  login: string,
  work: (tx: Queryable, operator: OperatorRow) => Promise<Result>,
): Promise<Result> =>
  sql.begin(async (tx) => {
    const operator = await lockOperator(tx, login);
    if (operator === undefined)
      throw new UsageError(`There is no operator ${login}. List them: npx catalogue operator list`);
    return work(tx, operator);
  });

/**
 * Adds an operator who signs in by password.
 * @returns the secret of a one-time link with which the operator sets a password
 * @throws UsageError when the login is taken
 */
export const addOperator = (
  sql: Database,
  actor: Actor,
  operator: { login: string; name: string; roles: readonly Role[] },
): Promise<string> =>
  sql.begin(async (tx) => {
    const { login, name, roles } = operator;
    if (!(await insertOperator(tx, operator)))
      throw new UsageError(
        `There is already an operator ${login}: change it with operator roles, or choose another login.`,
      );
    const secret = await createLink(tx, login, true);
    await recordOperator(tx, actor, 'operator.add', login, { name, roles });
    return secret;
  });

/**
 * Makes a one-time sign-in link; the operator's older ones end.
 * @param sets_password false: opening it signs in
 * @throws UsageError for an operator that is disabled or signs in by OIDC
 */
export const linkOperator = (
  sql: Database,
  actor: Actor,
  login: string,
  sets_password = true,
): Promise<string> =>
  onOperator(sql, login, async (tx, operator) => {
    if (operator.status === 'disabled') throw new UsageError(`${login} is disabled: it cannot sign in.`);
    if (operator.oidc_subject !== null)
      throw new UsageError(`${login} signs in at the OIDC provider: it needs no link.`);
    const secret = await createLink(tx, login, sets_password);
    await recordOperator(tx, actor, 'operator.link', login);
    return secret;
  });

/** Sets the roles; they count at the operator's next request. @throws UsageError for an operator of OIDC */
export const setRoles = (sql: Database, actor: Actor, login: string, roles: readonly Role[]): Promise<void> =>
  onOperator(sql, login, async (tx, operator) => {
    if (operator.oidc_subject !== null)
      throw new UsageError(`The roles of ${login} come from the OIDC provider, at each sign-in.`);
    await updateOperator(tx, login, { roles: roles as Role[] });
    await recordOperator(tx, actor, 'operator.roles', login, { from: operator.roles, to: roles });
  });

/** Disables an operator and ends every session and link at once, or enables it again. */
export const switchOperator = (
  sql: Database,
  actor: Actor,
  login: string,
  status: OperatorRow['status'],
): Promise<void> =>
  onOperator(sql, login, async (tx, operator) => {
    if (status === 'disabled' && actor.actor_kind === 'operator' && actor.actor === login)
      throw new CatalogueError('You cannot disable yourself: ask another administrator.');
    await updateOperator(tx, login, { status });
    const sessions = await deleteSessionsOf(tx, login);
    await deleteLinksOf(tx, login);
    if (operator.status === status) return;
    const action = status === 'disabled' ? 'operator.disable' : 'operator.enable';
    await recordOperator(tx, actor, action, login, { sessions });
  });

/** Ends every session and link of an operator. @returns how many sessions ended */
export const signOutOperator = (sql: Database, actor: Actor, login: string): Promise<number> =>
  onOperator(sql, login, async (tx) => {
    const sessions = await deleteSessionsOf(tx, login);
    await deleteLinksOf(tx, login);
    await recordOperator(tx, actor, 'operator.sign_out', login, { sessions });
    return sessions;
  });
