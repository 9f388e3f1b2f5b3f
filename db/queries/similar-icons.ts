import type { Queryable } from '#db/client.ts';
import type { GameRow } from '#db/queries/games.ts';
import { readColumn } from '#db/rows.ts';

/** A game whose icon looks the same. `bits`: in how many bits of 64 the hashes differ. */
export type SimilarGame = Pick<
  GameRow,
  'game_id' | 'game_name' | 'application_id' | 'audit_status' | 'game_icon' | 'withdrawn_at'
> & {
  application_name: string;
  bits: number;
};

/** The index finds differences up to this number of bits, which a picture has that was saved twice. */
const BITS_MAX = 3;
/** Most candidates that are compared, because many simple icons share a part of their hash. */
const CANDIDATES_MAX = 5_000;

/**
 * Finds games whose icon looks like this game's: those of other applications first, then the most similar. A hint: it
 * decides nothing.
 */
export const listSimilarIcons = (sql: Queryable, game_id: string, limit: number): Promise<SimilarGame[]> =>
  sql<SimilarGame[]>`
    with mine as materialized (select dhash from game_icon_hashes where game_id = ${game_id}),
    candidates as materialized (
      select h.game_id, h.dhash from game_icon_hashes h
      where icon_bands(h.dhash) && (select icon_bands(dhash) from mine) and h.game_id <> ${game_id}
      limit ${CANDIDATES_MAX}
    ), alike as (
      select c.game_id, bit_count((c.dhash # mine.dhash)::bit(64))::int as bits from candidates c, mine
    )
    select g.game_id, g.game_name, g.application_id, g.audit_status, g.game_icon, g.withdrawn_at,
           a.name as application_name, s.bits
    from alike s join games g using (game_id) join applications a using (application_id)
    where s.bits <= ${BITS_MAX} and g.withdrawn_at is null
    order by g.application_id = (select application_id from games where game_id = ${game_id}), s.bits, g.game_id
    limit ${limit}`;

/** Most games with the same hash that are compared, because an application may have one icon in thousands of games. */
const SAME_MAX = 100;

/**
 * Finds those of some games whose icon another application has too. Only equal hashes are found, because to compare nearly
 * equal ones, as `listSimilarIcons` does, takes too long for a page of 60 games.
 */
export const listSharedIcons = async (sql: Queryable, game_ids: readonly string[]): Promise<Set<string>> =>
  new Set(
    await readColumn(sql<{ game_id: string }[]>`
      select distinct mine.game_id
      from game_icon_hashes mine join games m using (game_id)
      cross join lateral (
        select h.game_id from game_icon_hashes h where h.dhash = mine.dhash limit ${SAME_MAX}
      ) same
      join games g on g.game_id = same.game_id
      where mine.game_id = any(${game_ids as string[]}::uuid[]) and g.application_id <> m.application_id
        and g.withdrawn_at is null`),
  );
