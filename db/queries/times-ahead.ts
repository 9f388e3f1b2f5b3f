import type { Queryable } from '#db/client.ts';
import { countRows } from '#db/rows.ts';
import { CARRY_AGAIN_MAX_MS } from '#src/rules/carry-over.ts';
import { DELIVERY } from '#src/rules/deliveries.ts';
import { FRESH_MS } from '#src/rules/pictures.ts';
import { WAITING } from '#src/rules/waiting.ts';

/** More than a minute ahead. */
const AHEAD = "now() + interval '1 minute'";

/**
 * Corrects times of the past that lie more than a minute ahead, because the clock of Postgres was set back since they were
 * written. Otherwise, work that waits for such a time would wait longer by as much as the clock was set back. Times of games
 * are corrected where games are written (db/queries/games.ts), and times of pictures where they are read (`isFresh`),
 * because no index finds them.
 * @returns the number of rows
 */
export const correctTimesAhead = async (sql: Queryable): Promise<number> => {
  const ahead = sql.unsafe(AHEAD);
  const counts = [
    // By these, runs without progress are found.
    await countRows(sql`
      update sync_runs set started_at = least(started_at, now()), progress_at = least(progress_at, now())
      where finished_at is null and (started_at > ${ahead} or progress_at > ${ahead})`),
    // By these, details that are too old are found.
    await countRows(sql`
      update applications set details_due_at = null, details_full_at = null
      where details_due_at > ${ahead} or details_full_at > ${ahead}`),
    // By these, a later pull overwrites an earlier one, never the reverse.
    await countRows(sql`
      update kyc_states set pulled_at = least(pulled_at, now()), requested_at = least(requested_at, now())
      where pulled_at > ${ahead} or requested_at > ${ahead}`),
    await countRows(sql`
      update event_webhooks set last_attempt_at = least(last_attempt_at, now()), next_attempt_at = now()
      where last_attempt_at > ${ahead} or next_attempt_at > ${ahead} + ${DELIVERY.probeMaxMs} * interval '1 millisecond'`),
    await countRows(sql`
      update event_subscriptions set last_attempt_at = least(last_attempt_at, now()), next_attempt_at = now()
      where last_attempt_at > ${ahead} or next_attempt_at > ${ahead} + ${DELIVERY.probeMaxMs} * interval '1 millisecond'`),
    await countRows(sql`
      update event_deliveries
      set requested_at = least(requested_at, now()), last_attempt_at = least(last_attempt_at, now()), next_attempt_at = now()
      where state = 'pending' and (requested_at > ${ahead} or last_attempt_at > ${ahead}
        or next_attempt_at > ${ahead} + ${DELIVERY.lifetimeMs} * interval '1 millisecond')`),
    // These may lie ahead: by at most the longest Retry-After, and the longest delay before a decision is carried over.
    await countRows(sql`
      update refresh_turns set next_at = now()
      where next_at > ${ahead} + ${WAITING.retryAfterMaxMs} * interval '1 millisecond'`),
    await countRows(sql`
      update changed_games set carry_at = now()
      where carry_at > ${ahead} + ${CARRY_AGAIN_MAX_MS} * interval '1 millisecond'`),
    await countRows(sql`update refresh_turns set day_started_at = now() where day_started_at > ${ahead}`),
    // A worker that lives writes its row again.
    await countRows(sql`delete from workers where seen_at > ${ahead}`),
  ];
  return counts.reduce((sum, count) => sum + count, 0);
};

/** Pictures that one statement corrects. */
const CHECKS_MAX = 10_000;

/**
 * Corrects checks of pictures that are due later than any that a media process schedules. They spread over the interval,
 * as they did before.
 * @param recheckMs PICTURE_RECHECK
 */
export const correctChecksAhead = async (sql: Queryable, recheckMs: number): Promise<void> => {
  const latestMs = Math.max(recheckMs, FRESH_MS);
  await sql`
    update pictures set next_check_at = now() + random() * ${recheckMs}::float8 * interval '1 millisecond'
    where picture_id in (
      select picture_id from pictures where next_check_at > ${sql.unsafe(AHEAD)} + ${latestMs} * interval '1 millisecond'
      order by next_check_at desc limit ${CHECKS_MAX} for update skip locked)`;
};
