/** What a page of a lane says of its games beside their places. */
import type { Queryable } from '#db/client.ts';
import type { GameRow } from '#db/queries/games.ts';
import type { LaneGame } from '#db/queries/lanes.ts';

type LaneContent = Pick<GameRow, 'game_icon' | 'game_store_pic' | 'game_store_video'>;

/** A game with the revision that was decided on last. */
export type DecidedGame = Pick<LaneGame, 'game_id' | 'decided_revision'>;

/** The decided and the present content of games of the changed lane. Postgres compares the texts, which may be long. */
export const listLaneContents = (sql: Queryable, games: readonly DecidedGame[]) =>
  sql<
    (Pick<LaneGame, 'game_id' | 'application_id'> & {
      name: boolean;
      description: boolean;
      /** Whether a picture that its last decision names has other bytes. */
      replaced: boolean;
      before: LaneContent;
      after: LaneContent;
    })[]
  >`
    select g.game_id, g.application_id, r.game_name <> g.game_name as name, r.game_desc <> g.game_desc as description,
           exists (select from picture_changes where game_id = g.game_id
                   and audit_id = (select audit_id from standing_decision(g.game_id))) as replaced,
           jsonb_build_object('game_icon', r.game_icon, 'game_store_pic', r.game_store_pic,
                              'game_store_video', r.game_store_video) as before,
           jsonb_build_object('game_icon', g.game_icon, 'game_store_pic', g.game_store_pic,
                              'game_store_video', g.game_store_video) as after
    from unnest(${games.map(({ game_id }) => game_id)}::uuid[],
                ${games.map(({ decided_revision }) => decided_revision)}::int[]) as decided (game_id, revision)
    join game_revisions r using (game_id, revision) join games g using (game_id)`;

/** Characters of a description on a card. */
const BEGINNING_MAX = 240;

/** Reads the beginnings of the descriptions of games. */
export const readBeginnings = async (
  sql: Queryable,
  game_ids: readonly string[],
): Promise<Map<string, string>> => {
  const rows = await sql<{ game_id: string; text: string }[]>`
    select game_id, left(game_desc, ${BEGINNING_MAX}) as text from games where game_id = any(${game_ids as string[]}::uuid[])`;
  return new Map(rows.map(({ game_id, text }) => [game_id, text]));
};
