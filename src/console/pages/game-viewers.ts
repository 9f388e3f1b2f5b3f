/** Who looks at a game, and who reviews it. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Database } from '#db/client.ts';
import { leaseGame } from '#db/queries/game-leases.ts';
import { recordViewer } from '#db/queries/game-viewers.ts';
import { operatorOf } from '#src/site/answers.ts';
import { html, type SafeHtml } from '#src/site/html.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { type ById, revisionNumber, toId } from '#src/site/query.ts';

/** A game, and the content of it that a page shows. */
type ShownGame = { game_id: string; revision: number };

/** Shows who looks at the game now, and who has its lease. A page that was fetched ahead shows them once it is opened. */
export const viewersLine = ({ game_id, revision }: ShownGame, text: string, isAhead = false): SafeHtml => {
  const when = isAhead ? 'load, every 20s' : 'every 20s';
  return html`<span class="viewers" hx-get="/games/${game_id}/viewers?revision=${revision}" hx-trigger="${when}"
 hx-swap="outerHTML">${text}</span>`;
};

/** Records that an operator looks at a game, and renews the lease. @returns what the page says of others */
export const seeGame = async (
  sql: Database,
  { game_id, revision }: ShownGame,
  login: string,
): Promise<string> => {
  const [holder, viewers] = await Promise.all([
    leaseGame(sql, game_id, login),
    recordViewer(sql, game_id, login, revision),
  ]);
  if (holder !== login) return `${holder} reviews this game now.`;
  if (viewers.length === 0) return '';
  return `${viewers.join(', ')} also ${viewers.length === 1 ? 'looks' : 'look'} at this game.`;
};

const polled = z.object({ revision: revisionNumber });

/** Adds `/games/:game_id/viewers`, which an open page calls every 20 s. */
export const addGameViewers = (app: FastifyInstance, { sql }: ConsoleOptions): void => {
  app.get<ById<'game_id'>>(
    '/games/:game_id/viewers',
    { config: { right: 'decide' } },
    async (request, reply) => {
      const game_id = toId(request.params.game_id);
      if (game_id === undefined) return reply.code(404).send();
      const shown = { game_id, ...polled.parse(request.query) };
      const seen = await seeGame(sql, shown, operatorOf(request).login);
      return reply.type('text/html; charset=utf-8').send(String(viewersLine(shown, seen)));
    },
  );
};
