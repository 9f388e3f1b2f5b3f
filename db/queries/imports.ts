/** Games that another catalogue has decided: stored with their decisions, or waiting for their first pull. */
import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { CONTENT_NAMES, CONTENT_TYPES, type GameRow } from '#db/queries/games.ts';
import { firstRow, onlyRow, readColumn } from '#db/rows.ts';
import type { importedGames } from '#db/schema/imports.ts';
import type { GameContent } from '#src/rules/mapping.ts';
import { gameLexemes } from '#src/rules/search-words.ts';

/** A game without content. */
export type WaitingGame = Omit<InferSelectModel<typeof importedGames>, 'application_id'>;
/** A game with content, which becomes its first revision. */
export type ImportedGame = WaitingGame &
  GameContent &
  Pick<GameRow, 'content_hash' | 'addresses_end_at' | 'withdrawn_at'>;

const WAITING_TYPES = `application_game_id text, game_id uuid, game_package_url text, audit_status text,
  audit_time timestamptz, decided_by text, reason text, text text`;

/**
 * Stores games with their decisions on revision 1, in one statement. Games that are stored or wait already are not changed.
 * The list hash is empty, so that the first run fetches each detail.
 * @returns how many were stored, and their decisions
 */
export const insertImportedGames = (
  tx: Queryable,
  application_id: string,
  games: readonly ImportedGame[],
): Promise<{ games: number; audit_ids: number[] }> => {
  const lines = games.map((game) => ({ ...game, lexemes: gameLexemes(application_id, game) }));
  return onlyRow(tx<{ games: number; audit_ids: number[] }[]>`
    with lines as materialized (
      select * from json_to_recordset(${JSON.stringify(lines)}::text::json) as l(
        content_hash text, addresses_end_at timestamptz, withdrawn_at timestamptz, lexemes text[], ${tx.unsafe(WAITING_TYPES)},
        ${tx.unsafe(CONTENT_TYPES)})
    ), stored as (
      insert into games as g (
        game_id, application_id, application_game_id, game_package_url, audit_status, audit_time, content_hash,
        addresses_end_at, list_hash, fetched_at, withdrawn_at, search, ${tx.unsafe(CONTENT_NAMES)})
      select game_id, ${application_id}, application_game_id, game_package_url, audit_status, audit_time, content_hash,
             addresses_end_at, '', statement_timestamp(), withdrawn_at, array_to_tsvector(lexemes),
             ${tx.unsafe(CONTENT_NAMES)}
      from lines
      -- The decision of a game that waits for its first pull would be applied to this content.
      where not exists (select from imported_games i
        where i.application_id = ${application_id} and i.application_game_id = lines.application_game_id)
      order by application_game_id
      on conflict do nothing
      returning g.*
    ), revised as (
      insert into game_revisions (game_id, revision, content_hash, fetched_at, ${tx.unsafe(CONTENT_NAMES)})
      select game_id, revision, content_hash, fetched_at, ${tx.unsafe(CONTENT_NAMES)} from stored
      returning game_id
    ), decided as (
      insert into game_audits (game_id, revision, audit_status, decided_by, reason, text, decided_at)
      select s.game_id, s.revision, l.audit_status, l.decided_by, l.reason, l.text, l.audit_time
      -- After its revision, which the trigger game_audits_content would write otherwise.
      from revised join stored s using (game_id) join lines l using (application_game_id)
      where l.audit_status <> 'pending'
      returning audit_id
    )
    select (select count(*)::int from stored) as games, array(select audit_id from decided) as audit_ids`);
};

/** Stores games that wait for their content. Games that are stored or wait already are not changed. @returns how many were added */
export const insertWaitingGames = async (
  tx: Queryable,
  application_id: string,
  games: readonly WaitingGame[],
): Promise<number> => {
  const stored = await tx`
    insert into imported_games (
      application_id, application_game_id, game_id, game_package_url, audit_status, audit_time, decided_by, reason, text)
    select ${application_id}, application_game_id, game_id, game_package_url, audit_status, audit_time, decided_by, reason,
           text
    from json_to_recordset(${JSON.stringify(games)}::text::json) as l(${tx.unsafe(WAITING_TYPES)})
    where not exists (select from games g
      where g.application_id = ${application_id} and g.application_game_id = l.application_game_id)
    on conflict do nothing`;
  return stored.count;
};

/** What the first pull of a game applies; undefined if the game does not wait for one. */
export const findWaitingGame = (sql: Queryable, application_id: string, application_game_id: string) =>
  firstRow(sql<Pick<WaitingGame, 'audit_status' | 'audit_time'>[]>`
    select audit_status, audit_time from imported_games
    where application_id = ${application_id} and application_game_id = ${application_game_id}`);

/** Lists those of these `game_id`s that another game already has. */
export const listTakenIds = async (
  sql: Queryable,
  application_id: string,
  games: readonly { game_id: string; application_game_id: string }[],
): Promise<string[]> =>
  games.length === 0
    ? []
    : readColumn(sql<{ game_id: string }[]>`
        select l.game_id from json_to_recordset(${JSON.stringify(games)}::text::json)
          as l(game_id uuid, application_game_id text)
        where exists (select from games g where g.game_id = l.game_id
            and (g.application_id, g.application_game_id) <> (${application_id}, l.application_game_id))
          or exists (select from imported_games i where i.game_id = l.game_id
            and (i.application_id, i.application_game_id) <> (${application_id}, l.application_game_id))`);

/** Lists those of these games of an application that are stored or wait for their content. */
export const listImported = async (
  sql: Queryable,
  application_id: string,
  application_game_ids: readonly string[],
): Promise<string[]> =>
  readColumn(sql<{ id: string }[]>`
    select id from unnest(${application_game_ids as string[]}::text[]) as id
    where exists (select from games where application_id = ${application_id} and application_game_id = id)
      or exists (select from imported_games where application_id = ${application_id} and application_game_id = id)`);
