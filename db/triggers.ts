import { readFile } from 'node:fs/promises';
import type { Database } from '#db/client.ts';

const GAME_COUNTS = new URL('./triggers/game-counts.sql', import.meta.url);

/**
 * Bring the database's own functions and triggers up to date, after the migrations: drizzle-kit knows only
 * tables. Leaves a database that has them as it is, and takes no lock on its tables then.
 */
export const installTriggers = async (sql: Database): Promise<void> => {
  await sql.unsafe(await readFile(GAME_COUNTS, 'utf8')).simple();
};
