/** `/games/:game_id`: everything of one game, and the decision. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Database } from '#db/client.ts';
import { findOpenAppeal } from '#db/queries/appeals.ts';
import { leaseGame } from '#db/queries/game-leases.ts';
import { recordViewer } from '#db/queries/game-viewers.ts';
import { findGame, listRevisionNumbers } from '#db/queries/games.ts';
import { listPicturedGames } from '#db/queries/picture-fetches.ts';
import { listReasons } from '#db/queries/reasons.ts';
import { leadOn } from '#src/console/next-game.ts';
import { gamePage } from '#src/console/pages/game-layout.ts';
import {
  loadGamePictures,
  parseSeenPictures,
  passButton,
  pictureList,
} from '#src/console/pages/game-pictures.ts';
import { hasRight } from '#src/contract/roles.ts';
import { AUDIT_STATUSES } from '#src/contract/words.ts';
import { readFirst } from '#src/lists/read.ts';
import { cursorAfter, readUpcoming } from '#src/lists/review.ts';
import { threadList } from '#src/lists/threads.ts';
import type { GameDecision } from '#src/operations/decision-results.ts';
import { passGames, rejectGames } from '#src/operations/decisions.ts';
import { setPackageUrls } from '#src/operations/package-urls.ts';
import { compareRevisions } from '#src/review/compare-revisions.ts';
import { readGameHints } from '#src/review/game-hints.ts';
import { findWaitingPlace } from '#src/review/lanes.ts';
import { readTimeline } from '#src/review/timeline.ts';
import { OBSTACLES } from '#src/rules/verdicts.ts';
import {
  isInBackground,
  isPrefetch,
  operatorOf,
  redirectAfter,
  redirectOnRefusal,
  redirectWith,
  sendError,
  sendPage,
} from '#src/site/answers.ts';
import { html, link, nameInText, type SafeHtml } from '#src/site/html.ts';
import { operateFor } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { type ById, laneFilters, optionalId, revisionNumber, toId } from '#src/site/query.ts';
import { sourcesOf } from '#src/site/sources.ts';

/** A decision with its texts, 4,000 characters each, and the filters of the lane, percent-encoded. */
const FORM_MAX_BYTES = 144 * 1024;

const GAME_NOT_FOUND = 'There is no game with this id.';

/** The next games of the lane, whose pictures are fetched while the operator looks at this one. */
const UPCOMING = 4;

/** More than a thread has. */
const THREAD_MAX = 1_000;

/** A cursor of the list of a lane. */
const cursorText = z.string().max(100);

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

const decision = laneFilters.extend({
  act: z.enum(['pass', 'reject']),
  revision: revisionNumber,
  seen_status: z.enum(AUDIT_STATUSES),
  seen_pictures: z
    .union([z.string(), z.array(z.string())])
    .default('')
    .transform((lists) => parseSeenPictures([lists].flat().join(' '))),
  cursor: cursorText.optional(),
  reason: z.string().default(''),
  text: z.string().default(''),
  note: z.string().default(''),
});

/** Who looks at the game now, and who has it. A page that was fetched ahead says it when it is shown. */
const viewersLine = (game_id: string, text: string, isAhead = false): SafeHtml => {
  const when = isAhead ? 'load, every 20s' : 'every 20s';
  return html`<span class="viewers" hx-get="/games/${game_id}/viewers" hx-trigger="${when}"
 hx-swap="outerHTML">${text}</span>`;
};

/** Records that an operator looks at a game, and renews the lease. @returns what the page says of others */
const seeGame = async (sql: Database, game_id: string, login: string): Promise<string> => {
  const [holder, viewers] = await Promise.all([
    leaseGame(sql, game_id, login),
    recordViewer(sql, game_id, login),
  ]);
  if (holder !== login) return `${holder} reviews this game now.`;
  if (viewers.length === 0) return '';
  return `${viewers.join(', ')} also ${viewers.length === 1 ? 'looks' : 'look'} at this game.`;
};

type Params = ById<'game_id'>;

/** Why nothing was decided; undefined if the game has the decision. */
const explainUndecided = ({ result, revision, game }: GameDecision): string | undefined => {
  if (result === 'picture_moved')
    return 'a picture changed behind its address meanwhile. This page shows it as it is now.';
  if (result === 'content_moved')
    return `the content moved from revision ${revision} to ${game?.revision} meanwhile. This page shows what moved.`;
  if (result === 'fetching')
    return 'a picture is still being fetched, or stored. The game can be passed when it is there.';
  if (result === 'held' || result === 'needs_verdict') return `${OBSTACLES[result]}.`;
  if (result === 'appealed') return 'its developer has appealed the rejection. Another reviewer decides.';
  if (result === 'decided_before')
    return `${game?.last?.decided_by ?? 'another operator'} decided meanwhile.`;
  return result === 'withdrawn' ? 'the game is withdrawn. Its application no longer lists it.' : undefined;
};

/** Adds `/games/:game_id`. */
export const addGame = (app: FastifyInstance, options: ConsoleOptions): void => {
  const { sql } = options;
  const sources = sourcesOf(options);
  app.get<Params>('/games/:game_id', { config: { right: 'view' } }, async (request, reply) => {
    const { lane: opened, application, q, back, after, from, to } = query.parse(request.query);
    const game_id = toId(request.params.game_id);
    const game = game_id === undefined ? undefined : await findGame(sql, game_id);
    if (game_id === undefined || game === undefined)
      return sendError(
        reply,
        404,
        'No such game',
        `${GAME_NOT_FOUND} Search for it by the id of its application.`,
      );
    const { login, roles } = operatorOf(request);
    const mayDecide = hasRight(roles, 'decide');
    const isAhead = isPrefetch(request);
    const [diff, timeline, revisions, reasons, hints, thread, appeal, seen] = await Promise.all([
      compareRevisions(sql, game_id, { from, to }),
      readTimeline(sql, game.application_id, game.application_game_id),
      listRevisionNumbers(sql, game_id),
      listReasons(sql),
      readGameHints(sql, game),
      readFirst(threadList, sources, { game_id }, THREAD_MAX),
      game.audit_status === 'rejected' ? findOpenAppeal(sql, game_id) : undefined,
      mayDecide && !isAhead ? seeGame(sql, game_id, login) : '',
    ]);
    const { waiting } = timeline;
    const lane = opened ?? waiting?.lane;
    const place = application === undefined ? waiting : await findWaitingPlace(sql, game, application);
    const filters = { lane, application, q };
    const among = { application_id: application, search: q };
    const cursor =
      waiting === null || lane === undefined ? after : cursorAfter({ game_id, due: waiting.due });
    const { rows: upcoming, cursor: further } =
      lane === undefined || cursor === undefined
        ? { rows: [], cursor: undefined }
        : await readUpcoming(sources, { lane, ...among }, cursor, UPCOMING);
    const [next] = upcoming;
    const comingPictures = await listPicturedGames(
      sql,
      upcoming.map((each) => each.game_id),
    );
    const pictures = await loadGamePictures(options, game, diff, comingPictures);
    const direct =
      next === undefined ? undefined : link(`/games/${next.game_id}`, { ...filters, back: game_id });
    const nextUrl =
      mayDecide && direct !== undefined
        ? link('/review/next', { ...filters, after: cursor, back: game_id })
        : direct;
    const backUrl = back === undefined ? undefined : link(`/games/${back}`, filters);
    return sendPage(
      reply,
      gamePage({
        game: diff.game,
        diff,
        timeline,
        waiting: place ?? null,
        revisions,
        reasons,
        thread,
        appeal,
        login,
        viewers: mayDecide ? viewersLine(game_id, seen, isAhead) : null,
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
      }),
    );
  });

  app.get<Params>('/games/:game_id/pictures', { config: { right: 'view' } }, async (request, reply) => {
    const { from, to, field, polls } = polled.parse(request.query);
    const game_id = toId(request.params.game_id);
    if (game_id === undefined) return reply.code(404).send();
    const diff = await compareRevisions(sql, game_id, { from, to });
    const list = diff.fields.find((each) => each.field === field);
    if (list?.kind !== 'list') return reply.code(404).send();
    const pictures = await loadGamePictures(options, diff.game, diff, []);
    const mayPass = options.keepsPictures && hasRight(operatorOf(request).roles, 'decide');
    const isCurrent = diff.to === diff.game.revision;
    const button = mayPass && isCurrent ? passButton(diff.game, pictures, true) : null;
    return reply
      .type('text/html; charset=utf-8')
      .send(String(html`${pictureList(diff.game, diff, list, pictures, polls)}${button}`));
  });

  app.get<Params>('/games/:game_id/viewers', { config: { right: 'decide' } }, async (request, reply) => {
    const game_id = toId(request.params.game_id);
    if (game_id === undefined) return reply.code(404).send();
    const seen = await seeGame(sql, game_id, operatorOf(request).login);
    return reply.type('text/html; charset=utf-8').send(String(viewersLine(game_id, seen)));
  });

  app.post<Params>(
    '/games/:game_id',
    { config: { right: 'decide' }, bodyLimit: FORM_MAX_BYTES },
    async (request, reply) => {
      const game_id = toId(request.params.game_id);
      const form = decision.parse(request.body);
      const { act, lane, application, q, cursor, seen_status, seen_pictures, reason, text, note } = form;
      const filters = { lane, application, q };
      const { login } = operatorOf(request);
      if (game_id === undefined) return redirectWith(reply, link('/review', filters), GAME_NOT_FOUND, 'bad');
      const here = link(`/games/${game_id}`, filters);
      const seen = { games: [{ game_id, revision: form.revision, seen_pictures }], seen_status, note };
      return redirectOnRefusal(reply, here, async () => {
        const { games } =
          act === 'pass'
            ? await operateFor(request, options, passGames, seen)
            : await operateFor(request, options, rejectGames, { ...seen, reason, text });
        const [decided] = games;
        if (decided === undefined || decided.result === 'unknown')
          return redirectWith(reply, link('/review', filters), GAME_NOT_FOUND, 'bad');
        // A page that fetched the next game ahead shows it already.
        const following =
          lane === undefined || cursor === undefined || isInBackground(request)
            ? undefined
            : await leadOn(options, login, { filters: { ...filters, lane }, after: cursor, back: game_id });
        const url = following?.url ?? (lane === undefined ? here : link('/review', filters));
        const name = nameInText(decided.game?.game_name ?? game_id);
        const why = explainUndecided(decided);
        if (decided.result === 'decided_before' && (following?.isFound || isInBackground(request)))
          return redirectWith(reply, url, `${name}: ${why} This is the next game.`, 'info');
        if (why !== undefined) {
          const from = decided.result === 'content_moved' ? { from: form.revision } : { after: cursor };
          const stay = link(`/games/${game_id}`, { ...filters, ...from });
          return redirectWith(reply, stay, `Nothing was decided: ${why}`, 'bad');
        }
        return redirectWith(reply, url, `${name}: ${decided.game?.audit_status}.`, 'undo');
      });
    },
  );

  app.post<Params>(
    '/games/:game_id/package',
    { config: { right: 'decide' }, bodyLimit: 16 * 1024 },
    async (request, reply) => {
      const game_id = toId(request.params.game_id);
      if (game_id === undefined) return redirectWith(reply, '/games', GAME_NOT_FOUND, 'bad');
      const { url } = z.object({ url: z.string().trim() }).parse(request.body);
      const here = `/games/${game_id}`;
      return redirectAfter(reply, here, async () => {
        await operateFor(request, options, setPackageUrls, { urls: [{ game_id, game_package_url: url }] });
        return `The package URL is ${url === '' ? 'cleared' : 'set'}.`;
      });
    },
  );
};
