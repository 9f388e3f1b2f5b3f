import type { Queryable } from '#db/client.ts';
import { readIdentityRules } from '#db/queries/addresses.ts';
import type { GameRow } from '#db/queries/games.ts';
import { readColumn } from '#db/rows.ts';
import type { IdentityRule } from '#src/rules/address-identity.ts';
import { pictureId } from '#src/rules/pictures.ts';

/** A picture that a decision is bound to, by its place in the game. */
export type PicturePin = {
  audit_id: number;
  is_icon: boolean;
  /** From 0. */
  place: number;
  picture_id: string;
  url: string;
};

type PlacedGame = Pick<GameRow, 'application_id' | 'game_icon' | 'game_store_pic'> & { audit_id: number };

/** The pictures of a decision's game, by their places. */
export const placesOf = (
  { audit_id, application_id, game_icon, game_store_pic }: PlacedGame,
  rule: IdentityRule,
): PicturePin[] =>
  [game_icon, game_store_pic].flatMap((urls, list) =>
    urls.map((url, place) => ({
      audit_id,
      is_icon: list === 0,
      place,
      picture_id: pictureId(application_id, url, rule),
      url,
    })),
  );

/** The pictures of the games of these decisions, as they are now. */
const listPlaces = async (sql: Queryable, audit_ids: readonly number[]): Promise<PicturePin[]> => {
  const games = await sql<PlacedGame[]>`
    select a.audit_id, g.application_id, g.game_icon, g.game_store_pic
    from game_audits a join games g using (game_id)
    where a.audit_id = any(${audit_ids as number[]}::bigint[])`;
  const ruleOf = await readIdentityRules(sql, games);
  return games.flatMap((game) => placesOf(game, ruleOf(game.application_id)));
};

/**
 * Stores which picture bytes each decision saw, in the transaction of the decisions. These are the last bytes that were
 * fetched. An address that was never fetched gets the first bytes that arrive; one that failed without earlier bytes gets
 * none. Each picture is due for a check at once; the check of a fresh picture costs no request.
 */
export const pinPictures = async (tx: Queryable, audit_ids: readonly number[]): Promise<void> => {
  const places = await listPlaces(tx, audit_ids);
  if (places.length === 0) return;
  // Postgres assumes a hundred rows in a JSON text, for which a join may read a whole table of pictures.
  await tx`
    with named as materialized (
      select * from json_to_recordset(${JSON.stringify(places)}::text::json) as n(
        audit_id bigint, is_icon boolean, place smallint, picture_id uuid, url text)
    ), pinned as (
      insert into picture_pins (audit_id, is_icon, place, picture_id, sha256)
      select n.audit_id, n.is_icon, n.place, n.picture_id, case when p.fetched_at is not null then coalesce(p.sha256, '') end
      from named n left join lateral (select * from pictures where picture_id = n.picture_id limit 1) p on true
      on conflict do nothing
      returning sha256
    ), kept as (
      update picture_contents set pinned = true
      where not pinned and sha256 = any (array(select sha256 from pinned))
    )
    insert into pictures as p (picture_id, url, next_check_at)
    select distinct on (picture_id) picture_id, url, now() from named order by picture_id
    on conflict (picture_id) do update set next_check_at = excluded.next_check_at`;
};

/** Makes the pictures of standing decisions due for a check, after an undo. */
export const checkPinsOf = async (tx: Queryable, game_ids: readonly string[]): Promise<void> => {
  await tx`
    update pictures set next_check_at = now()
    where picture_id in (
      select p.picture_id from picture_pins p join game_audits a using (audit_id)
      where a.game_id = any(${game_ids as string[]}::uuid[]) and a.undone_at is null
    )`;
};

/** Does the pin's decision stand on its game, and is the game not withdrawn? */
const isOfStandingDecision = (sql: Queryable) => sql`
  g.withdrawn_at is null and a.audit_id = (select audit_id from standing_decision(a.game_id))`;

/** The same, and is the game passed? */
const isOfPassedGame = (sql: Queryable) => sql`g.audit_status = 'passed' and ${isOfStandingDecision(sql)}`;

/** If the game is not passed, the first bytes of a picture are requested until this long after the decision. */
const FIRST_BYTES = '7 days';

/** Binds the decisions that wait for the first bytes of a picture to these bytes, and marks the bytes to be kept. */
export const fillPins = async (sql: Queryable, picture_id: string): Promise<void> => {
  await sql`
    with filled as (
      update picture_pins set sha256 = p.sha256 from pictures p
      where picture_pins.picture_id = ${picture_id} and p.picture_id = ${picture_id}
        and picture_pins.sha256 is null and p.sha256 is not null
      returning p.sha256
    )
    update picture_contents set pinned = true
    where not pinned and sha256 in (
      select sha256 from filled union all select sha256 from picture_pins where picture_id = ${picture_id})`;
};

/** The standing decisions on passed games that name other bytes of a picture than it has now. */
const drifted = (sql: Queryable, picture_id: string) => sql`
  pictures now_is join picture_pins p using (picture_id) join game_audits a using (audit_id)
    join games g on g.game_id = a.game_id
  where now_is.picture_id = ${picture_id} and p.sha256 <> now_is.sha256 and ${isOfPassedGame(sql)}`;

/** Lists games that `returnDriftedGames` returns to `pending`, at most `limit`. */
export const listDriftedGames = (sql: Queryable, picture_id: string, limit: number): Promise<string[]> =>
  readColumn(
    sql<{ game_id: string }[]>`select distinct a.game_id from ${drifted(sql, picture_id)} limit ${limit}`,
  );

/**
 * Returns to `pending` the games whose decision names other bytes of a picture than it has now, and records why
 * (`picture_changes`). The caller has locked the games.
 * @returns the games, with the decision that no longer stands
 */
export const returnDriftedGames = (tx: Queryable, picture_id: string, game_ids: readonly string[]) =>
  tx<{ game_id: string; audit_id: number }[]>`
    with changed as materialized (
      select distinct a.game_id, a.audit_id, p.picture_id, p.sha256 as before, now_is.sha256 as after
      from ${drifted(tx, picture_id)} and a.game_id = any(${game_ids as string[]}::uuid[])
    ), recorded as (
      insert into picture_changes (game_id, picture_id, audit_id, before, after)
      select game_id, picture_id, audit_id, before, after from changed on conflict do nothing
    )
    update games g set audit_status = 'pending', audit_time = null, updated_at = now()
    from changed c where g.game_id = c.game_id
    returning g.game_id, c.audit_id`;

export type DuePicture = {
  picture_id: string;
  /** As the game has it now. */
  url: string;
  /** The application of one decided game that has the picture. */
  application_id: string;
  /** Until this time no other process takes it. A check that became due meanwhile has another time. */
  lease: string;
};

/**
 * Takes pictures whose check is due, for the time of a lease. Several processes take different ones. A picture stays due
 * only if a decision wants it: one that stands on a passed game and names it, or one that stands on another game and waits
 * for its first bytes.
 * @returns the wanted pictures, and the ids of all that were taken
 */
export const takeDuePictures = async (
  sql: Queryable,
  limit: number,
  leaseMs: number,
): Promise<{ due: DuePicture[]; taken: string[] }> => {
  const rows = await sql<(DuePicture | { picture_id: string; url: null })[]>`
    with due as materialized (
      select picture_id, fetched_at from pictures where next_check_at <= now()
      order by next_check_at limit ${limit} for update skip locked
    ), wanted as materialized (
      select due.picture_id, pinned.* from due left join lateral (
        select g.application_id, (case when p.is_icon then g.game_icon else g.game_store_pic end)[p.place + 1] as url
        from picture_pins p join game_audits a using (audit_id) join games g on g.game_id = a.game_id
        where p.picture_id = due.picture_id and a.revision = g.revision
          and ${isOfStandingDecision(sql)}
          and (g.audit_status = 'passed' or p.sha256 is null
            and (due.fetched_at is null or a.decided_at > now() - ${FIRST_BYTES}::interval))
        order by a.audit_id desc limit 1
      ) pinned on true
    ), taken as (
      update pictures p
      set next_check_at = case when w.url is not null then now() + ${leaseMs} * interval '1 millisecond' end
      from wanted w where p.picture_id = w.picture_id returning w.*, p.next_check_at::text as lease
    )
    select picture_id, url, application_id, lease from taken`;
  return { due: rows.filter((row) => row.url !== null), taken: rows.map(({ picture_id }) => picture_id) };
};

/** The pictures that decisions on these games name. */
export const listPinnedPictures = (sql: Queryable, game_ids: readonly string[]): Promise<string[]> =>
  readColumn(sql<{ picture_id: string }[]>`
    select distinct p.picture_id from picture_pins p join game_audits a using (audit_id)
    where a.game_id = any(${game_ids as string[]}::uuid[])`);

/** Sets the next check, unless one was made due since this one was taken. */
export const scheduleCheck = async (
  sql: Queryable,
  { picture_id, lease }: Pick<DuePicture, 'picture_id' | 'lease'>,
  inMs: number,
) => {
  await sql`
    update pictures set next_check_at = now() + ${inMs}::float8 * interval '1 millisecond'
    where picture_id = ${picture_id} and next_check_at = ${lease}::timestamptz`;
};

/** The bytes that the last standing decision of a game names, by picture: hashes in hex, "" for none. */
export const listPins = async (sql: Queryable, game_id: string): Promise<Map<string, string>> => {
  const rows = await sql<{ picture_id: string; sha256: string }[]>`
    select picture_id, encode(sha256, 'hex') as sha256 from picture_pins
    where sha256 is not null and audit_id = (select audit_id from standing_decision(${game_id}))`;
  return new Map(rows.map((row) => [row.picture_id, row.sha256]));
};

/** Reads the hashes of pictures in hex, and locks these pictures until the transaction ends. */
export const lockPictures = async (
  tx: Queryable,
  picture_ids: readonly string[],
): Promise<Map<string, string | null>> => {
  const rows = await tx<{ picture_id: string; sha256: string | null }[]>`
    select picture_id, encode(sha256, 'hex') as sha256 from pictures
    where picture_id = any(${picture_ids as string[]}::uuid[]) order by picture_id for share`;
  return new Map(rows.map((row) => [row.picture_id, row.sha256]));
};
