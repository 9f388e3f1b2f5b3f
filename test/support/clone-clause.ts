import type { Database } from '#db/client.ts';

/**
 * Returns the clause of `create database` that clones a database. By `file_copy`: the other strategy copies sequences in use
 * so that they repeat values after a crash, and takes longer for a small database. Servers before 15 have no other one.
 */
export const cloneClause = async (sql: Database, name: string): Promise<string> => {
  const [server] = await sql`select current_setting('server_version_num')::int >= 150000 as has_strategy`;
  return `template ${name}${server?.has_strategy ? ' strategy file_copy' : ''}`;
};
