import { type Database, openDatabase } from '#db/client.ts';

/** Runs some statements on a connection of their own. */
export const asAdmin = async <T>(url: string, work: (sql: Database) => PromiseLike<T>): Promise<T> => {
  const sql = openDatabase(url, { max: 1, applicationName: 'catalogue tests' });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
};
