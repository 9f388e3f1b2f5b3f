/** What is known of the addresses of an application's pictures and videos. */
import type { Queryable } from '#db/client.ts';
import { readValue } from '#db/rows.ts';
import { type IdentityRule, identityRule } from '#src/rules/address-identity.ts';
import type { GameContent } from '#src/rules/mapping.ts';

/** Reads how the addresses of these applications are compared. */
export const readIdentityRules = async (
  sql: Queryable,
  named: readonly { application_id: string }[],
): Promise<(application_id: string) => IdentityRule> => {
  const rows = await sql<{ application_id: string; volatile_parameters: string[] }[]>`
    select application_id, volatile_parameters from applications
    where application_id = any(${[...new Set(named.map(({ application_id }) => application_id))]}::text[])`;
  const rules = new Map(
    rows.map(({ application_id, volatile_parameters }) => [
      application_id,
      identityRule(volatile_parameters),
    ]),
  );
  return (application_id) => rules.get(application_id) ?? identityRule([]);
};

/** Most games that are read. More would show nothing else, because an application signs all its addresses alike. */
const SAMPLE = 100;

/** Reads how long the addresses of an application last after a response; null if they have no end. */
export const readAddressLifetimeMs = async (
  sql: Queryable,
  application_id: string,
): Promise<number | null> => {
  const lasted = await readValue(sql<{ ms: number | null }[]>`
    select (extract(epoch from min(addresses_end_at - fetched_at)) * 1000)::float8 as ms
    from (
      select addresses_end_at, fetched_at from games where application_id = ${application_id}
      order by application_game_id limit ${SAMPLE}
    ) as sample`);
  return lasted ?? null;
};

/** Content of a game before and after a change. */
export type ChangedContent = { before: GameContent; after: GameContent };

/** Games that an open run has changed, in the order of its pages. */
export const listChangedContents = (
  sql: Queryable,
  { run_id, application_id }: { run_id: string; application_id: string },
  limit: number,
): Promise<ChangedContent[]> =>
  sql<ChangedContent[]>`
    select to_jsonb(former) as before, to_jsonb(latest) as after
    from sync_runs r join sync_run_pages p using (run_id)
    cross join lateral unnest(p.application_game_ids) as named(id)
    cross join lateral (
      select game_id, revision from games
      where application_id = ${application_id} and application_game_id = named.id and revision > 1
    ) as g
    join game_revisions latest on latest.game_id = g.game_id and latest.revision = g.revision
    join game_revisions former on former.game_id = g.game_id and former.revision = g.revision - 1
    where r.run_id = ${run_id} and p.updated > 0 and latest.fetched_at >= r.started_at
    limit ${limit}`;
