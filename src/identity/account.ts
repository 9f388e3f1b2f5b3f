/** What operators see of their own sign-in. What they change of it: src/operations/account.ts. */
import type { Queryable } from '#db/client.ts';
import { findOperator, type OperatorRow } from '#db/queries/operators.ts';
import { listSessionsOf, type OwnSession } from '#db/queries/sign-in.ts';
import { CatalogueError } from '#src/errors.ts';
import { hashSecret } from '#src/identity/secrets.ts';

/** An operator with the secret of the session that acts. */
type OwnSignIn = { login: string; session: string };

export type Account = {
  /** Where the roles come from, and whether the operator has a password here. */
  signs_in_by: 'oidc' | 'password' | 'link';
  sessions: OwnSession[];
};

const signsInBy = ({ oidc_subject, password_hash }: OperatorRow): Account['signs_in_by'] =>
  oidc_subject !== null ? 'oidc' : password_hash !== null ? 'password' : 'link';

/** Reads what the operator of a session may see of the own sign-in. */
export const readAccount = async (sql: Queryable, { login, session }: OwnSignIn): Promise<Account> => {
  const operator = await findOperator(sql, login);
  if (operator === undefined) throw new CatalogueError('There is no such operator.');
  return {
    signs_in_by: signsInBy(operator),
    sessions: await listSessionsOf(sql, login, hashSecret(session)),
  };
};
