import type { Queryable } from '#db/client.ts';
import { onlyRow, readColumn } from '#db/rows.ts';

/** An open page renews its lease every 20 s. Two renewals may be missing. */
const LEASE_S = 60;

/**
 * Whether a lease is held. One that ends later than a lease from now is not, because a stolen console may have stored it.
 * Compares with `clock_timestamp()`, because `now()` may be earlier than the start of the lease.
 */
const isHeld = (sql: Queryable) =>
  sql`game_leases.leased_until between now() and clock_timestamp() + ${LEASE_S} * interval '1 second'`;

/** At most this many ended leases are deleted at once, so that the table stays small. */
const ENDED_MAX = 100;

/**
 * Leases a game to the operator who opens its page, unless another one has it, and renews the lease of the game that the page
 * fetched ahead. The operator who rejected a game does not get it while its appeal is open.
 * @returns who has the game
 */
export const leaseGame = async (sql: Queryable, game_id: string, holder: string): Promise<string> => {
  const row = await onlyRow(sql<{ holder: string }[]>`
    with taken as (
      insert into game_leases (game_id, holder, leased_until)
      select ${game_id}, ${holder}, now() + ${LEASE_S} * interval '1 second'
      where not exists (
        select from game_appeals
        where game_id = ${game_id} and outcome is null and lower(rejected_by) = lower(${holder}))
      on conflict (game_id) do update
        set holder = excluded.holder, leased_until = excluded.leased_until, claimed_from = null
        where game_leases.holder = excluded.holder or not ${isHeld(sql)}
      returning holder
    ), ahead as (
      update game_leases set leased_until = now() + ${LEASE_S} * interval '1 second'
      where holder = ${holder} and claimed_from = ${game_id} and game_id <> ${game_id} and leased_until > now()
    )
    select coalesce((select holder from taken),
                    (select holder from game_leases where game_id = ${game_id}), ${holder}) as holder`);
  return row.holder;
};

/** Lists those of these games that no other reviewer has, in their order. */
const listFree = (sql: Queryable, game_ids: readonly string[], holder: string): Promise<string[]> =>
  readColumn(sql<{ game_id: string }[]>`
    select w.game_id from unnest(${game_ids as string[]}::uuid[]) with ordinality as w (game_id, place)
    where not exists (
      select from game_leases where game_leases.game_id = w.game_id and holder <> ${holder} and ${isHeld(sql)})
    order by w.place`);

/** @returns undefined if another operator was faster */
const claim = (sql: Queryable, game_id: string, holder: string, from: string | null) =>
  readColumn(sql<{ game_id: string }[]>`
    with ended as (
      delete from game_leases where ctid = any(array(
        select ctid from game_leases where leased_until < now() - interval '1 hour' and game_id <> ${game_id}
        limit ${ENDED_MAX} for update skip locked))
    )
    insert into game_leases (game_id, holder, claimed_from, leased_until)
    values (${game_id}, ${holder}, ${from}, now() + ${LEASE_S} * interval '1 second')
    on conflict (game_id) do update
      set holder = excluded.holder, claimed_from = excluded.claimed_from, leased_until = excluded.leased_until
      where game_leases.holder = excluded.holder or not ${isHeld(sql)}
    returning game_id`);

/**
 * Leases the first of these games that no other reviewer has.
 * @param from the game whose page the holder looks at
 * @returns undefined if others have all of them
 */
export const claimFirstGame = async (
  sql: Queryable,
  game_ids: readonly string[],
  holder: string,
  from: string | null,
): Promise<string | undefined> => {
  for (const game_id of await listFree(sql, game_ids, holder)) {
    const [claimed] = await claim(sql, game_id, holder, from);
    if (claimed !== undefined) return claimed;
  }
  return undefined;
};
