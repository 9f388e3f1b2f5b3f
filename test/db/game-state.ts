import { randomUUID } from 'node:crypto';
import type { Database } from '#db/client.ts';
import { listRevisions } from '#db/queries/games.ts';
import { oneGame } from '#test/support/landed.ts';

/** Minute by minute. */
export const at = (minute: number): Date => new Date(Date.UTC(2026, 2, 1, 12, minute));
/** A game that no other test has. */
export const ownId = (): string => `own-${randomUUID()}`;
/** Reads what a test compares: everything of the row of a game and its revisions. */
export const readState = async (sql: Database, id: string) => {
  const row = await oneGame(sql, 'acme', id);
  return { row, revisions: await listRevisions(sql, row.game_id) };
};
