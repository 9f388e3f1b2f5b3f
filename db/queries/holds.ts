/**
 * Holds: a held application has no passed game. A hold returns its passed games to pending and keeps their decisions; a
 * release passes those again whose content and decision are the same.
 */
import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { firstRow, isOneRow, onlyValue, readColumn } from '#db/rows.ts';
import type { applicationHolds } from '#db/schema/review.ts';
import type { PassObstacle } from '#src/contract/words.ts';

export type HoldRow = InferSelectModel<typeof applicationHolds>;

/**
 * Locks the applications of games before the games are locked, so that no hold begins meanwhile. A hold waits until the
 * transaction ends, and a decision waits for a hold.
 */
export const lockAgainstHolds = async (tx: Queryable, game_ids: readonly string[]): Promise<void> => {
  await tx`
    select from applications
    where application_id in (select application_id from games where game_id = any(${game_ids as string[]}::uuid[]))
    order by application_id for key share`;
};

/** Locks an application for a hold or a release. @returns false when there is none */
export const lockForHold = (tx: Queryable, application_id: string): Promise<boolean> =>
  isOneRow(tx`
    select from applications where application_id = ${application_id} and status <> 'removed' for update`);

export const findHold = (sql: Queryable, application_id: string): Promise<HoldRow | undefined> =>
  firstRow(sql<HoldRow[]>`select * from application_holds where application_id = ${application_id}`);

/** Lists those of these applications that an operator holds. */
export const listHeld = (sql: Queryable, application_ids: readonly string[]): Promise<string[]> =>
  readColumn(sql<{ application_id: string }[]>`
    select application_id from application_holds
    where application_id = any(${application_ids as string[]}::text[]) order by 1`);

/** @returns false when the application is held already */
export const insertHold = (
  tx: Queryable,
  hold: Pick<HoldRow, 'application_id' | 'reason' | 'held_by'>,
): Promise<boolean> => isOneRow(tx`insert into application_holds ${tx(hold)} on conflict do nothing`);

/** Locks the games of an application in the order in which `upsertGames` locks. */
const lockGamesOf = async (tx: Queryable, application_id: string, status: 'passed' | 'pending') => {
  await tx`
    select from games where application_id = ${application_id} and audit_status = ${status}
    order by application_game_id for update`;
};

/** Returns the passed games of an application to pending. @returns how many */
export const holdGames = async (tx: Queryable, application_id: string): Promise<number> => {
  await lockGamesOf(tx, application_id, 'passed');
  // Rows of no hold, which a stolen login may have left.
  await tx`
    delete from held_games h using games g
    where g.game_id = h.game_id and g.application_id = ${application_id} and g.audit_status = 'passed'`;
  const held = await tx`
    with held as (
      update games set audit_status = 'pending', audit_time = null, updated_at = now()
      where application_id = ${application_id} and audit_status = 'passed'
      returning game_id
    )
    insert into held_games (game_id, application_id, audit_id)
    select held.game_id, ${application_id}, d.audit_id from held cross join lateral standing_decision(held.game_id) d`;
  return held.count;
};

/** @returns the hold that ended */
export const deleteHold = (tx: Queryable, application_id: string): Promise<HoldRow | undefined> =>
  firstRow(tx<HoldRow[]>`delete from application_holds where application_id = ${application_id} returning *`);

/** Finds why no game of an application can be passed now; null if nothing prevents it. */
export const findPassObstacle = (sql: Queryable, application_id: string): Promise<PassObstacle | null> =>
  onlyValue(sql<{ obstacle: PassObstacle | null }[]>`select pass_obstacle(${application_id}) as obstacle`);

/**
 * Does a release pass this game again? Its content and its decision are the same. It compares `games g`, `held_games h`
 * and `standing_decision(h.game_id) s`.
 */
export const isReleased = (sql: Queryable) => sql`
  g.audit_status = 'pending' and s.audit_id = h.audit_id and s.audit_status = 'passed' and s.revision = g.revision`;

/** Passes the games again that a hold returned to pending. @returns how many */
export const releaseGames = async (tx: Queryable, application_id: string): Promise<number> => {
  await lockGamesOf(tx, application_id, 'pending');
  const released = await tx`
    update games g set audit_status = 'passed', audit_time = d.decided_at, updated_at = now()
    from held_games h cross join lateral standing_decision(h.game_id) s join game_audits d on d.audit_id = s.audit_id
    where h.application_id = ${application_id} and g.game_id = h.game_id and ${isReleased(tx)}`;
  await tx`delete from held_games where application_id = ${application_id}`;
  return released.count;
};
