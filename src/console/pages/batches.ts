/** Many games decided at once on the page of a lane, `/batches/:batch_id`, and undo. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { findBatch, findLastDecision, readDecidableGames } from '#db/queries/decisions.ts';
import { listOpenedGames } from '#db/queries/game-viewers.ts';
import { listPicturedGames } from '#db/queries/picture-fetches.ts';
import type { PictureSet } from '#db/queries/pictures.ts';
import { linkTo } from '#src/console/links.ts';
import { DECISION_TEXTS_MAX_BYTES } from '#src/console/pages/decision-form.ts';
import { iconPlace } from '#src/console/pages/pictures.ts';
import { LANE_PAGE, SEEN_MAX_BYTES } from '#src/console/pages/review.ts';
import { parseSeenPictures } from '#src/console/pages/seen-pictures.ts';
import { wantPictures } from '#src/console/want-pictures.ts';
import { hasRight } from '#src/contract/roles.ts';
import { isUuid } from '#src/lib/uuid.ts';
import { batchList } from '#src/lists/review.ts';
import type { GameDecision } from '#src/operations/decision-results.ts';
import { passGames, rejectGames } from '#src/operations/decisions.ts';
import { undoGameDecisions } from '#src/operations/undo-decisions.ts';
import { type DecisionResult, OBSTACLES } from '#src/rules/judge-decision.ts';
import { operatorOf, redirectOnRefusal, redirectWith, sendError, sendPage } from '#src/site/answers.ts';
import {
  action,
  ago,
  badge,
  gameName,
  hiddenFields,
  html,
  link,
  nameInText,
  number,
  type SafeHtml,
} from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import { operateFor } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { type ById, laneFilters, optionalWord, texts, toId } from '#src/site/query.ts';
import { sourcesOf } from '#src/site/sources.ts';

const BATCH_PAGE = 200;
const NAMED_MAX = 5;
/** Most bytes of one selected game in the form: the field's name, the id and the revision. */
const GAME_MAX_BYTES = 64;
/** Most bytes of the filters of a lane and the short fields of a form. */
const FILTERS_MAX_BYTES = 16 * 1024;
/** A form with all games and pictures of a page, and the longest text and note. */
const FORM_MAX_BYTES =
  LANE_PAGE * GAME_MAX_BYTES + SEEN_MAX_BYTES + DECISION_TEXTS_MAX_BYTES + FILTERS_MAX_BYTES;

const SEEN = /^([0-9a-f-]{36})@(\d{1,9})$/;
const form = laneFilters.extend({
  act: z.enum(['pass', 'reject']),
  game: texts.transform((games) =>
    games.flatMap((game) => {
      const [, game_id = '', revision] = SEEN.exec(game) ?? [];
      return isUuid(game_id) ? [{ game_id, revision: Number(revision) }] : [];
    }),
  ),
  /** A game, and the pictures of it that the page shows. */
  seen: texts,
  reason: z.string().default(''),
  text: z.string().default(''),
  note: z.string().default(''),
  view: optionalWord(['gallery']),
  /** The reviewer's answer: are games that the reviewer did not open decided too? */
  unopened: optionalWord(['decide', 'leave']),
});
type Form = z.infer<typeof form>;

const formatSeen = ({ game_id, revision }: Form['game'][number]): string => `${game_id}@${revision}`;

/** Adds to each game the pictures of it that the page showed. */
const withSeenPictures = (games: Form['game'], seen: Form['seen']) => {
  const byGame = Map.groupBy(seen, (each) => each.slice(0, each.indexOf(' ')));
  return games.map((game) => ({
    ...game,
    seen_pictures: parseSeenPictures(byGame.get(game.game_id)?.join(' ') ?? ''),
  }));
};

type Iconed = Parameters<typeof iconPlace>[0];

/** Asks whether to decide on games that the reviewer has not opened. */
const unopenedForm = (given: Form, unopened: readonly Iconed[], pictures: PictureSet): SafeHtml => {
  const { game, seen, act, unopened: _answer, ...fields } = given;
  const { lane, application, q } = given;
  const verb = act === 'pass' ? 'Pass' : 'Reject';
  const opened = game.length - unopened.length;
  // The focus is on a button that does not decide on unopened games.
  const leave = html`<button class="button primary" name="unopened" value="leave" autofocus>
${verb} only the ${number(opened)} opened</button>`;
  const back = (isFirst: boolean) =>
    html`<a class="button${isFirst ? ' primary' : null}" href="${backTo(given)}"${isFirst ? html` autofocus` : null}>Back</a>`;
  const names = unopened.map(
    (each) => html`<li class="titled">${iconPlace(each, pictures, 'tiny')}
<a href="${link(`/games/${each.game_id}`, { lane, application, q })}" dir="auto">${gameName(each.game_name)}</a></li>`,
  );
  return html`<form method="post" action="/review" class="card" data-instead="${backTo(given)}"><div class="body">
<p>You have not opened ${number(unopened.length)} of the ${number(game.length)} selected games.</p>
${hiddenFields({ ...fields, act })}${game.map((each) => hiddenFields({ game: formatSeen(each) }))}
${seen.map((each) => hiddenFields({ seen: each }))}
<div class="actions">${opened === 0 ? null : leave}
<button class="button" name="unopened" value="decide">${verb} all ${number(game.length)}</button>
${back(opened === 0)}</div>
<ul class="rows columns" aria-label="Games that you have not opened">${names}</ul></div></form>`;
};

/** @param missed the ids of the games that the reviewer has not opened */
const askUnopened = async (options: ConsoleOptions, given: Form, missed: string[]): Promise<SafeHtml> => {
  const named = await readDecidableGames(options.sql, missed);
  const games = (await listPicturedGames(options.sql, missed))
    .map(({ game_id, application_id, game_icon }) => {
      return { game_id, application_id, game_icon, game_name: named.get(game_id)?.game_name ?? '' };
    })
    .toSorted((one, other) => missed.indexOf(one.game_id) - missed.indexOf(other.game_id));
  return unopenedForm(given, games, await wantPictures(options, games));
};

/** The page of the lane that a form came from, with the games that were not decided. */
const backTo = ({ lane, application, q, view }: Form, moved: readonly string[] = []): string =>
  link('/review', { lane, application, q, view, moved: moved.join(',') });

/** Why games were not decided: what follows their number. */
const CAUSES: Readonly<Record<Exclude<DecisionResult, 'decided'>, string>> = {
  content_moved: ' moved meanwhile',
  picture_moved: ' moved meanwhile',
  decided_before: ' decided meanwhile',
  unchanged: ' decided meanwhile',
  withdrawn: ' withdrawn',
  fetching: ' whose pictures are being fetched',
  appealed: ' with an open appeal',
  held: `: ${OBSTACLES.held}`,
  needs_verdict: `: ${OBSTACLES.needs_verdict}`,
  unknown: ' unknown',
};

/** Describes what happened to the games of a decision, in one sentence. */
const describeResults = (verb: string, games: readonly GameDecision[]): string => {
  const others = games.flatMap(({ result, game, game_id }) =>
    result === 'decided' ? [] : [{ cause: CAUSES[result], name: game?.game_name ?? game_id }],
  );
  const decided = games.length - others.length;
  if (others.length === 0) return `${decided} ${verb}.`;
  const causes = [...new Set(Object.values(CAUSES))].flatMap((cause) => {
    const count = others.filter((each) => each.cause === cause).length;
    return count === 0 ? [] : [`${count}${cause}`];
  });
  const names = others.slice(0, NAMED_MAX).map(({ name }) => nameInText(name));
  const named = `${names.join(', ')}${others.length > NAMED_MAX ? ', …' : ''}`;
  return `${decided} ${verb}. ${others.length} not decided (${causes.join(', ')}): ${named}.`;
};

/** Adds `POST /review`, `/batches/:batch_id` and `/undo`. */
export const addBatches = (app: FastifyInstance, options: ConsoleOptions): void => {
  const { sql } = options;
  app.post('/review', { config: { right: 'decide' }, bodyLimit: FORM_MAX_BYTES }, async (request, reply) => {
    const given = form.parse(request.body);
    const { act, game, reason, text, note, unopened } = given;
    const back = backTo(given);
    if (game.length === 0) return redirectWith(reply, back, 'Select at least one game.', 'bad');
    const { login } = operatorOf(request);
    const opened = await listOpenedGames(
      sql,
      game.map(({ game_id }) => game_id),
      login,
    );
    const chosen = unopened === 'leave' ? game.filter(({ game_id }) => opened.has(game_id)) : game;
    const missed = chosen.filter(({ game_id }) => !opened.has(game_id)).map(({ game_id }) => game_id);
    // A rejection without a reason is refused first.
    const isComplete = act === 'pass' || reason !== '';
    if (unopened === undefined && missed.length > 0 && isComplete)
      return sendPage(reply, {
        title:
          act === 'pass' ? 'Pass games that you have not opened?' : 'Reject games that you have not opened?',
        at: '/review',
        parent: ['Review', back],
        body: await askUnopened(options, given, missed),
      });
    const seen = {
      games: withSeenPictures(chosen, given.seen),
      seen_status: 'pending',
      note,
    } as const;
    return redirectOnRefusal(reply, back, async () => {
      const { games } =
        act === 'pass'
          ? await operateFor(request, options, passGames, seen)
          : await operateFor(request, options, rejectGames, { ...seen, reason, text });
      const moved = games.filter(({ result }) => result !== 'decided').map(({ game_id }) => game_id);
      const verb = act === 'pass' ? 'passed' : 'rejected';
      const tone = moved.length === games.length ? 'bad' : 'undo';
      return redirectWith(reply, backTo(given, moved), describeResults(verb, games), tone);
    });
  });

  app.get<ById<'batch_id'>>('/batches/:batch_id', { config: { right: 'view' } }, async (request, reply) => {
    const filters = laneFilters.parse(request.query);
    const batch_id = toId(request.params.batch_id);
    const batch = batch_id === undefined ? undefined : await findBatch(sql, batch_id);
    if (batch_id === undefined || batch === undefined)
      return sendError(reply, 404, 'No such batch', 'There is no batch of decisions with this id.');
    const path = `/batches/${batch_id}`;
    const view = { path, query: request.query, limit: BATCH_PAGE, fixed: { batch_id } };
    const { body } = await showList(sourcesOf(options), batchList, view);
    const mayUndo = batch.standing > 0 && hasRight(operatorOf(request).roles, 'decide');
    const undo = action('/undo', 'Undo', { fields: { ...filters, batch: batch_id }, key: 'u' });
    return sendPage(reply, {
      title: 'Batch of decisions',
      at: '/review',
      parent: ['Review', link('/review', filters)],
      lead: html`${badge(batch.audit_status)} by ${batch.decided_by}, ${ago(batch.decided_at)}`,
      actions: html`${mayUndo ? undo : null}
<a class="button" href="${link('/review', filters)}">Back to review</a>`,
      body: body({ linkTo, label: 'Games of the batch' }),
    });
  });

  app.post('/undo', { config: { right: 'decide' }, bodyLimit: FILTERS_MAX_BYTES }, async (request, reply) => {
    const { batch, ...filters } = laneFilters
      .extend({ batch: z.uuid().optional(), view: optionalWord(['gallery']) })
      .parse(request.body ?? {});
    const last = batch === undefined ? await findLastDecision(sql, operatorOf(request).login) : undefined;
    const which = batch === undefined ? last && { audit_ids: last.audit_ids } : { batch_id: batch };
    if (which === undefined)
      return redirectWith(reply, link('/review', filters), 'There is no decision of yours to undo.', 'bad');
    const results = await operateFor(request, options, undoGameDecisions, which);
    const undone = results.filter(({ result }) => result === 'undone').length;
    const kept = results.length - undone;
    const decided = last?.batch_id == null ? `/games/${last?.game_id}` : '/review';
    const url = link(batch === undefined ? decided : `/batches/${batch}`, filters);
    const [only] = results.length === 1 ? results : [];
    const what = only === undefined ? String(undone) : `${nameInText(only.game?.game_name ?? only.game_id)}:`;
    const stays = `${kept} ${kept === 1 ? 'stays' : 'stay'}: the content changed, or there is a later decision.`;
    const text = kept === 0 ? `${what} undone.` : `${undone} undone. ${stays}`;
    return redirectWith(reply, url, text, undone > 0 ? 'good' : 'bad');
  });
};
