/** `/review/next`: the next game of a lane that no other reviewer has. */
import type { FastifyInstance } from 'fastify';
import { leadOn } from '#src/console/next-game.ts';
import { sendGame } from '#src/console/pages/game.ts';
import { isPrefetch, operatorOf, redirectWith } from '#src/site/answers.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { cursorText, laneFilters, optionalId } from '#src/site/query.ts';

/** From one game of a lane to the next. */
const step = laneFilters.extend({ after: cursorText.optional().catch(undefined), back: optionalId });

/** Adds `/review/next`. */
export const addNextGame = (app: FastifyInstance, options: ConsoleOptions): void => {
  app.get('/review/next', { config: { right: 'decide' } }, async (request, reply) => {
    const { lane = 'new', after, back, ...filters } = step.parse(request.query);
    const { login } = operatorOf(request);
    const next = await leadOn(options, login, { filters: { ...filters, lane }, after, back });
    if (next.game_id !== undefined && isPrefetch(request)) {
      // A redirect would cost one request more, while the reviewer waits.
      reply.header('content-location', next.url);
      return sendGame(options, reply, next.game_id, { ...filters, lane, back });
    }
    if (next.game_id !== undefined || !next.hasOthers) return reply.redirect(next.url, 303);
    return redirectWith(reply, next.url, 'Others review the remaining games of this lane now.', 'info');
  });
};
