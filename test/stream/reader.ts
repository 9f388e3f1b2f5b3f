import type { Database } from '#db/client.ts';
import { findGame, findRevision } from '#db/queries/games.ts';
import type { StreamDocument } from '#src/contract/stream.ts';
import type { StreamType } from '#src/contract/words.ts';
import { listStream } from '#src/events/read-stream.ts';
import { createAuditTimeFormatter } from '#src/rules/audit-time.ts';
import { CONTENT_COLUMNS, type GameContent } from '#src/rules/mapping.ts';

/** Times as the tests read them. */
export const format = createAuditTimeFormatter('UTC');

/** A reader of the stream that stops after each page and continues where it stopped. */
export const aStreamReader = (sql: Database, types: StreamType[] = [], after = '') => {
  let place = after;
  return {
    /** Reads one page. */
    read: async (limit = 3): Promise<StreamDocument[]> => {
      const { list, next } = await listStream(sql, { after: place, limit, types }, format);
      place = next;
      return list;
    },
    /** Reads to the end. */
    readAll: async (limit = 100): Promise<StreamDocument[]> => {
      const all: StreamDocument[] = [];
      for (;;) {
        const { list, next } = await listStream(sql, { after: place, limit, types }, format);
        all.push(...list);
        if (Number(next) === Number(place)) return all;
        place = next;
      }
    },
  };
};

/** A game as a copy of the catalogue has it. */
export type Copied = {
  application_id: string;
  application_game_id: string;
  revision: number;
  content: GameContent;
  game_package_url: string;
  audit_status: string;
  audit_time: string;
  reason: string;
};

const contentOf = (row: GameContent): GameContent =>
  Object.fromEntries(CONTENT_COLUMNS.map((name) => [name, row[name]])) as unknown as GameContent;

/** A copy of the catalogue, made from the stream and from reads of one game at one revision. */
export const aCopy = (sql: Database) => {
  const games = new Map<string, Copied & { isWithdrawn: boolean }>();
  const readContent = async (game_id: string, revision: number) => {
    const row = await findRevision(sql, game_id, revision);
    // A revision that was deleted has a later one, whose event follows.
    return row && contentOf(row);
  };
  return {
    apply: async ({ type, data }: StreamDocument): Promise<void> => {
      const { application_id, application_game_id = '', game_id = '', revision = 0 } = data;
      if (type === 'application.removed')
        for (const game of games.values())
          if (game.application_id === application_id) game.isWithdrawn = true;
      if (!type.startsWith('game.')) return;
      const game = games.get(game_id);
      if (type === 'game.received' || type === 'game.changed') {
        const content = (await readContent(game_id, revision)) ?? game?.content;
        if (content === undefined) throw new Error(`${game_id} has no revision ${revision}`);
        const known = game ?? {
          application_id,
          application_game_id,
          audit_status: 'pending',
          audit_time: '',
          reason: '',
          isWithdrawn: false,
        };
        const { game_package_url = '' } = (await findGame(sql, game_id)) ?? {};
        games.set(game_id, { ...known, revision, content, game_package_url });
        return;
      }
      if (game === undefined) throw new Error(`${type} of ${game_id} is before game.received`);
      const { audit_status = '', audit_time = '', reason = '' } = data;
      games.set(game_id, {
        ...game,
        audit_status,
        audit_time,
        reason,
        isWithdrawn: type === 'game.withdrawn',
      });
    },
    /** The games that are not withdrawn, by id. */
    games: (): Record<string, Copied> =>
      Object.fromEntries(
        [...games.entries()]
          .flatMap(([id, { isWithdrawn, ...game }]) => (isWithdrawn ? [] : [[id, game]]))
          .toSorted(),
      ),
  };
};

/** The same from the tables. */
export const readCatalogue = async (sql: Database): Promise<Record<string, Copied>> => {
  const rows = await sql<(GameContent & Copied & { game_id: string; decided: Date | null })[]>`
    select g.*, g.audit_time as decided, coalesce(d.reason, '') as reason
    from games g left join lateral standing_decision(g.game_id) d on g.audit_status = 'rejected'
    where withdrawn_at is null order by game_id`;
  return Object.fromEntries(
    rows.map((row) => [
      row.game_id,
      {
        application_id: row.application_id,
        application_game_id: row.application_game_id,
        revision: row.revision,
        content: contentOf(row),
        game_package_url: row.game_package_url,
        audit_status: row.audit_status,
        audit_time: format(row.decided),
        reason: row.reason,
      },
    ]),
  );
};
