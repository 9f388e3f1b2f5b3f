/** Decisions that may stand for a later revision of their games. */
import type { Queryable } from '#db/client.ts';
import type { PicturePin } from '#db/queries/picture-pins.ts';
import { onlyValue, readColumn } from '#db/rows.ts';
import type { GameContent } from '#src/rules/mapping.ts';

/** A game that changed after its last decision. */
export type CarryCandidate = {
  game_id: string;
  application_id: string;
  revision: number;
  /** The last decision that stands, the content that it was made on, and the bytes of each picture, in hex. */
  audit_id: number;
  decided: GameContent;
  pins: { is_icon: boolean; place: number; sha256: string | null }[];
  now: GameContent;
  /** Milliseconds since it entered the lane. */
  waited_ms: number;
  /** Until this time no other process takes it. Once it was taken or changed again, it has another time. */
  lease: string;
};

/** Takes games that are due to be looked at, for the time of a lease. */
export const takeCarryCandidates = (
  sql: Queryable,
  limit: number,
  leaseMs: number,
): Promise<CarryCandidate[]> =>
  sql<CarryCandidate[]>`
    with due as materialized (
      select game_id from changed_games where carry_at <= now()
      order by carry_at limit ${limit} for update skip locked
    ), taken as (
      update changed_games set carry_at = now() + ${leaseMs} * interval '1 millisecond'
      where game_id in (select game_id from due)
      returning game_id, since, carry_at
    )
    select g.game_id, g.application_id, g.revision, a.audit_id, to_jsonb(r) as decided, to_jsonb(g) as now,
           (extract(epoch from now() - t.since) * 1000)::float8 as waited_ms, t.carry_at::text as lease,
           coalesce((
             select jsonb_agg(jsonb_build_object(
               'is_icon', p.is_icon, 'place', p.place, 'sha256', encode(p.sha256, 'hex')))
             from picture_pins p where p.audit_id = a.audit_id), '[]') as pins
    from taken t join games g using (game_id)
    cross join lateral (
      select audit_id, revision from game_audits
      where game_id = g.game_id and undone_at is null order by audit_id desc limit 1
    ) a
    join game_revisions r on r.game_id = g.game_id and r.revision = a.revision`;

/** Sets when a game is looked at again. @param inMs null: not again, unless it changes */
export const scheduleCarry = async (
  sql: Queryable,
  { game_id, lease }: Pick<CarryCandidate, 'game_id' | 'lease'>,
  inMs: number | null,
): Promise<void> => {
  await sql`
    update changed_games set carry_at = now() + ${inMs}::float8 * interval '1 millisecond'
    where game_id = ${game_id} and carry_at = ${lease}::timestamptz`;
};

/**
 * Carries a decision over. Postgres compares contents and bytes once more (`carry_over_decision`).
 * @returns false if the game, its decision or a picture has changed meanwhile
 */
export const carryOver = async (
  sql: Queryable,
  { game_id, revision, audit_id }: Pick<CarryCandidate, 'game_id' | 'revision' | 'audit_id'>,
  places: readonly Pick<PicturePin, 'is_icon' | 'place' | 'picture_id'>[],
): Promise<boolean> => {
  const carried = await onlyValue(sql<{ audit_id: number | null }[]>`
    select carry_over_decision(${game_id}, ${revision}, ${audit_id}, ${JSON.stringify(places)}::text::jsonb) as audit_id`);
  return carried !== null;
};

/** Lists those of these pictures that their last request fetched within the last `ms`. */
export const listFetched = (sql: Queryable, picture_ids: readonly string[], ms: number): Promise<string[]> =>
  readColumn(sql<{ picture_id: string }[]>`
    select picture_id from pictures
    where picture_id = any(${picture_ids as string[]}::uuid[]) and http_status in (200, 304)
      and fetched_at > now() - ${ms}::float8 * interval '1 millisecond'`);

/** Reads the hashes of the last bytes of pictures, in hex. */
export const readPictureHashes = async (
  sql: Queryable,
  picture_ids: readonly string[],
): Promise<Map<string, string>> => {
  const rows = await sql<{ picture_id: string; sha256: string }[]>`
    select picture_id, encode(sha256, 'hex') as sha256 from pictures
    where picture_id = any(${picture_ids as string[]}::uuid[]) and sha256 is not null`;
  return new Map(rows.map((row) => [row.picture_id, row.sha256]));
};
