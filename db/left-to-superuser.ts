import type { Queryable } from '#db/client.ts';
import { type DatabaseRole, roleName } from '#db/roles.ts';
import { onlyRow } from '#db/rows.ts';

/** Built-in functions: `all` of large objects and advisory locks, and among them `transactionLocks`, which end with a transaction. */
type BuiltIns = { all: string[]; transactionLocks: string[] };

/**
 * Finds rights of PUBLIC that only a superuser can revoke, because a superuser owns the built-in functions and, before
 * Postgres 15, the schema `public`, where any database role could create a function that replaces one of ours.
 * @param lockers the database roles that take advisory locks
 * @returns what a superuser must run, as sentences; empty if nothing is left
 */
export const findLeftToSuperuser = async (
  tx: Queryable,
  { all, transactionLocks }: BuiltIns,
  lockers: readonly DatabaseRole[],
): Promise<string[]> => {
  const names = lockers.map(roleName);
  const { owner, may_create, may_call, lacks_lock } = await onlyRow(tx<
    { owner: string; may_create: boolean; may_call: boolean; lacks_lock: boolean }[]
  >`
    select quote_ident(current_user) as owner, has_schema_privilege('public', 'public', 'create') as may_create,
           exists (select from unnest(${all}::text[]) as name where has_function_privilege('public', name, 'execute')) as may_call,
           exists (select from unnest(${transactionLocks}::text[]) as name, unnest(${names}::text[]) as locker
                   where not has_function_privilege(locker, name, 'execute')) as lacks_lock`);
  const functions = all.join(', ');
  const statements: string[] = [];
  if (may_create)
    statements.push('revoke create on schema public from public', `grant all on schema public to ${owner}`);
  if (may_call || lacks_lock) {
    statements.push(`revoke execute on function ${functions} from public`);
    statements.push(`grant execute on function ${functions} to ${owner}`);
    if (names.length > 0)
      statements.push(`grant execute on function ${transactionLocks.join(', ')} to ${names.join(', ')}`);
  }
  if (statements.length === 0) return [];
  const why =
    'The user of DATABASE_URL is no superuser, so it cannot revoke what Postgres grants to every login';
  const what =
    'large objects, locks that outlive a transaction, before Postgres 15 objects in the schema public';
  return [`${why}: ${what}. Let a superuser run in this database: ${statements.join('; ')};`];
};
