/** `/portal/game`: why one game is live or not, and its pull on request. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Database } from '#db/client.ts';
import { findApplication } from '#db/queries/applications.ts';
import { hasWaitingGames, WHOLE_LIST } from '#db/queries/refreshes.ts';
import { findApplicationGame } from '#db/queries/timeline.ts';
import { identifier } from '#src/contract/text.ts';
import type { Caller } from '#src/operations/operation.ts';
import { refreshGames } from '#src/operations/refresh-games.ts';
import { absentPage } from '#src/portal/absent-game.ts';
import { gameUrl } from '#src/portal/links.ts';
import { answerPoll, readReading } from '#src/portal/reading.ts';
import { callerOfHolder, holderOf, SIGNED_IN, sendPortal } from '#src/portal/session.ts';
import { storedPage } from '#src/portal/stored-game.ts';
import { forApplication, readTimeline } from '#src/review/timeline.ts';
import { redirectWith } from '#src/site/answers.ts';
import type { Notice } from '#src/site/layout.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { isPolling } from '#src/site/site.ts';
import { sourcesOf } from '#src/site/sources.ts';

/** An id is taken as it is sent, because spaces may be a part of it. */
const gameQuery = z.object({ id: identifier.optional().catch(undefined) });

/** Requests a game as its developer's server does by `game/refresh`; without an id, the whole list. @returns what became of it */
const requestPull = async (sql: Database, caller: Caller, id: string | undefined): Promise<Notice> => {
  const application_id = caller.actor.actor;
  const [application, game] = await Promise.all([
    findApplication(sql, application_id),
    id === undefined ? undefined : findApplicationGame(sql, application_id, id),
  ]);
  if (application?.status !== 'active')
    return {
      tone: 'bad',
      text: 'The platform has paused your application: it reads nothing until it resumes.',
    };
  // A repeated request would move the one that waits to the end.
  if (
    await hasWaitingGames(sql, application_id, [game === undefined ? WHOLE_LIST : game.application_game_id])
  )
    return { tone: 'info', text: 'It is requested already.' };
  if ((await refreshGames(sql, caller, id === undefined ? [] : [id])) === undefined)
    return { tone: 'bad', text: 'Too many of your requests wait: retry when some of them are done.' };
  if (id === undefined)
    return { tone: 'good', text: 'Your list is read within a minute, with every detail.' };
  const text =
    game === undefined
      ? 'The game is not stored, so your list is read now.'
      : 'The game is read within seconds.';
  return { tone: 'good', text };
};

/** Adds `/portal/game`. */
export const addPortalGame = (portal: FastifyInstance, options: ConsoleOptions): void => {
  const { sql } = options;
  portal.get('/portal/game', SIGNED_IN, async (request, reply) => {
    const { application_id } = holderOf(request);
    const { id } = gameQuery.parse(request.query);
    if (id === undefined) return reply.redirect('/portal/games', 303);
    const [read, reading, isWaiting] = await Promise.all([
      readTimeline(sql, application_id, id, { name: 'your application' }),
      readReading(sourcesOf(options), application_id),
      hasWaitingGames(sql, application_id, [id]),
    ]);
    const timeline = forApplication(read);
    const { game } = timeline;
    const isPulling = isWaiting && !reading.isPaused;
    // A pull of a game that is not stored reads the list.
    if (isPolling(request)) return answerPoll(reply, game === null ? reading.isReading : isPulling);
    const page =
      game === null
        ? await absentPage(sourcesOf(options), application_id, timeline, reading)
        : await storedPage(options, game, timeline, { ...reading, isPulling });
    return sendPortal(reply, { at: '/portal/games', parent: ['Games', '/portal/games'], ...page });
  });

  portal.post('/portal/game', SIGNED_IN, async (request, reply) => {
    const { id } = z.object({ id: identifier.optional() }).parse(request.body);
    const { tone, text } = await requestPull(sql, callerOfHolder(request), id);
    return redirectWith(reply, id === undefined ? '/portal/runs' : gameUrl(id), text, tone);
  });
};
