/** What may help to decide on a game, for its page. */
import type { Queryable } from '#db/client.ts';
import {
  type DecisionHistory,
  listRecentRejections,
  type RecentRejection,
  readDecisionHistory,
} from '#db/queries/decision-history.ts';
import type { GameRow } from '#db/queries/games.ts';
import { listSimilarNames, type SimilarName } from '#db/queries/similar-names.ts';
import { contactsOf, hasInvisible, latinReading, mixedWords, scriptsOf } from '#src/rules/text-hints.ts';

export type GameHints = {
  record: DecisionHistory;
  rejections: readonly RecentRejection[];
  names: readonly SimilarName[];
  scripts: readonly string[];
  /** Words of the name that mix scripts that look alike. */
  mixed: readonly string[];
  /** The name as it reads in Latin letters; null: as it is written. */
  reading: string | null;
  hasInvisible: boolean;
  contacts: readonly string[];
};

const SHOWN_MAX = 3;

/** Reads the record of the application, games of a similar name, and what stands out in the texts. */
export const readGameHints = async (sql: Queryable, game: GameRow): Promise<GameHints> => {
  const { game_name, game_desc, application_id } = game;
  const reading = latinReading(game_name);
  const [record, rejections, read, written] = await Promise.all([
    readDecisionHistory(sql, application_id),
    listRecentRejections(sql, game, SHOWN_MAX),
    reading === null ? [] : listSimilarNames(sql, { ...game, game_name: reading }, SHOWN_MAX),
    listSimilarNames(sql, game, SHOWN_MAX),
  ]);
  return {
    record,
    rejections,
    names: [...new Map([...read, ...written].map((name) => [name.game_id, name])).values()].slice(
      0,
      SHOWN_MAX,
    ),
    scripts: scriptsOf(`${game_name} ${game_desc}`),
    mixed: mixedWords(game_name),
    reading,
    hasInvisible: hasInvisible(game_name),
    contacts: contactsOf(game_desc),
  };
};
