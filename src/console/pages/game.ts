/** `/games/:game_id`: the page of one game. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { findOpenAppeal } from '#db/queries/appeals.ts';
import { findApplication } from '#db/queries/applications.ts';
import { findGame, listRevisionNumbers } from '#db/queries/games.ts';
import { listPicturedGames } from '#db/queries/picture-fetches.ts';
import { listReasons } from '#db/queries/reasons.ts';
import { gamePage } from '#src/console/pages/game-layout.ts';
import { latePass, loadGamePictures, pictureList } from '#src/console/pages/game-pictures.ts';
import { seeGame, viewersLine } from '#src/console/pages/game-viewers.ts';
import { wantPictures } from '#src/console/want-pictures.ts';
import { hasRight } from '#src/contract/roles.ts';
import { coerceError, safeMessage } from '#src/errors.ts';
import { readFirst } from '#src/lists/read.ts';
import { cursorAfter, readUpcoming } from '#src/lists/review.ts';
import { threadList } from '#src/lists/threads.ts';
import { compareRevisions } from '#src/review/compare-revisions.ts';
import { readGameHints } from '#src/review/game-hints.ts';
import { findLane, findWaitingPlace } from '#src/review/lanes.ts';
import { readStanding } from '#src/review/standing.ts';
import { readTimeline } from '#src/review/timeline.ts';
import { isPrefetch, operatorOf, sendError, sendPage } from '#src/site/answers.ts';
import { html, link } from '#src/site/html.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import {
  type ById,
  cursorText,
  type LaneFilters,
  laneFilters,
  optionalId,
  revisionNumber,
  toId,
} from '#src/site/query.ts';
import { sourcesOf } from '#src/site/sources.ts';

/** The next games of the lane, whose pictures are fetched while the operator looks at this one. */
const UPCOMING = 4;

/** More than a thread has. */
const THREAD_MAX = 1_000;

const revision = revisionNumber.optional().catch(undefined);
const query = laneFilters.extend({
  back: optionalId,
  /** Where the lane goes on, for a game that has left it. */
  after: cursorText.optional().catch(undefined),
  from: revision,
  to: revision,
});

const polled = query.extend({
  field: z.enum(['game_icon', 'game_store_pic']),
  polls: z.coerce.number().int().min(0).catch(0),
});

/** Requests the pictures of the games that come next. The page does not wait for it. */
const wantComing = async (options: ConsoleOptions, game_ids: readonly string[]): Promise<void> => {
  try {
    await wantPictures(options, await listPicturedGames(options.sql, game_ids));
  } catch (thrown) {
    options.logger.warn(
      { error: safeMessage(coerceError(thrown)) },
      'the pictures of the next games are not requested',
    );
  }
};

/**
 * Finds the next game of the lane behind a cursor, and requests the pictures of those that follow.
 * @returns `next`, and `further`: the cursor behind them, where a search goes on
 */
const readComing = async (
  options: ConsoleOptions,
  { lane, application: application_id, q: search }: LaneFilters,
  cursor: string | undefined,
): Promise<{ next: string | undefined; further: string | undefined }> => {
  if (lane === undefined || cursor === undefined) return { next: undefined, further: undefined };
  const filter = { lane, application_id, search };
  const { rows, cursor: further } = await readUpcoming(sourcesOf(options), filter, cursor, UPCOMING);
  const game_ids = rows.map(({ game_id }) => game_id);
  void wantComing(options, game_ids);
  return { next: game_ids[0], further };
};

type Params = ById<'game_id'>;

/** Sends the page of a game, or one that says there is none. @param given the parameters of its address */
export const sendGame = async (
  options: ConsoleOptions,
  reply: FastifyReply,
  id: string,
  given: unknown,
): Promise<FastifyReply> => {
  const { sql } = options;
  const { lane: opened, application, q, back, after, from, to } = query.parse(given);
  const game_id = toId(id);
  const game = game_id === undefined ? undefined : await findGame(sql, game_id);
  if (game_id === undefined || game === undefined)
    return sendError(
      reply,
      404,
      'No such game',
      'There is no game with this id. Search for it by the id of its application.',
    );
  const { login, roles } = operatorOf(reply.request);
  const mayDecide = hasRight(roles, 'decide');
  const isAhead = isPrefetch(reply.request);
  const shown = Math.min(to ?? game.revision, game.revision);
  // Reads that need each other's results are one promise. All promises run at once, so the page takes as long as one.
  const findComing = async () => {
    const found = await findLane(sql, game);
    const lane = opened ?? found?.lane;
    const filters = { lane, application, q };
    const cursor =
      found === undefined || lane === undefined ? after : cursorAfter({ game_id, due: found.due });
    return { filters, cursor, ...(await readComing(options, filters, cursor)) };
  };
  const compare = async () => {
    const diff = await compareRevisions(sql, game, { from, to });
    return { diff, pictures: await loadGamePictures(options, game, diff) };
  };
  const [
    { filters, cursor, next, further },
    { diff, pictures },
    timeline,
    place,
    revisions,
    reasons,
    hints,
    standing,
    thread,
    appeal,
    seen,
    owner,
  ] = await Promise.all([
    findComing(),
    compare(),
    readTimeline(sql, game.application_id, game.application_game_id, { known: game }),
    application === undefined ? undefined : findWaitingPlace(sql, game, application),
    listRevisionNumbers(sql, game_id),
    listReasons(sql),
    readGameHints(sql, game),
    readStanding(sql, game.application_id),
    readFirst(threadList, sourcesOf(options), { game_id }, THREAD_MAX),
    game.audit_status === 'rejected' ? findOpenAppeal(sql, game_id) : undefined,
    mayDecide && !isAhead ? seeGame(sql, { game_id, revision: shown }, login) : '',
    findApplication(sql, game.application_id),
  ]);
  const direct = next === undefined ? undefined : link(`/games/${next}`, { ...filters, back: game_id });
  const nextUrl =
    mayDecide && direct !== undefined
      ? link('/review/next', { ...filters, after: cursor, back: game_id })
      : direct;
  const backUrl = back === undefined ? undefined : link(`/games/${back}`, filters);
  return sendPage(
    reply,
    gamePage({
      game,
      application_name: owner?.name ?? game.application_id,
      diff,
      timeline,
      waiting: (application === undefined ? timeline.waiting : place) ?? null,
      revisions,
      reasons,
      thread,
      appeal,
      login,
      viewers: mayDecide ? viewersLine({ game_id, revision: diff.to }, seen, isAhead) : null,
      mayDecide,
      filters,
      cursor,
      nextUrl,
      furtherUrl:
        next !== undefined || further === undefined
          ? undefined
          : link('/review', { ...filters, cursor: further }),
      backUrl,
      pictures,
      hints,
      standing,
    }),
  );
};

/** Adds `/games/:game_id`. */
export const addGame = (app: FastifyInstance, options: ConsoleOptions): void => {
  const { sql } = options;
  app.get<Params>('/games/:game_id', { config: { right: 'view' } }, (request, reply) =>
    sendGame(options, reply, request.params.game_id, request.query),
  );

  app.get<Params>('/games/:game_id/pictures', { config: { right: 'view' } }, async (request, reply) => {
    const { from, to, field, polls } = polled.parse(request.query);
    const game_id = toId(request.params.game_id);
    const game = game_id === undefined ? undefined : await findGame(sql, game_id);
    if (game === undefined) return reply.code(404).send();
    const diff = await compareRevisions(sql, game, { from, to });
    const list = diff.fields.find((each) => each.field === field);
    if (list?.kind !== 'list') return reply.code(404).send();
    const pictures = await loadGamePictures(options, game, diff);
    const mayPass = options.keepsPictures && hasRight(operatorOf(request).roles, 'decide');
    const isCurrent = diff.to === game.revision;
    const button = mayPass && isCurrent ? latePass(game, diff, list, pictures) : null;
    return reply
      .type('text/html; charset=utf-8')
      .send(String(html`${pictureList(game, diff, list, pictures, { polls })}${button}`));
  });
};
