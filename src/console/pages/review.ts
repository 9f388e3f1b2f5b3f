/** `/review`: the two lanes; many games decided at once; `/batches/:id`; undo. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { countAppeals } from '#db/queries/appeals.ts';
import { findBatch, findLastDecision } from '#db/queries/decisions.ts';
import type { LaneGame } from '#db/queries/lanes.ts';
import { listPicturedGames } from '#db/queries/picture-fetches.ts';
import type { PictureSet } from '#db/queries/pictures.ts';
import { listReasons, type ReasonRow } from '#db/queries/reasons.ts';
import { linkTo } from '#src/console/links.ts';
import { leadOn } from '#src/console/next-game.ts';
import {
  DECISION_TEXTS_MAX_BYTES,
  rejectionFields,
  sendRejection,
} from '#src/console/pages/decision-form.ts';
import { awaitIcons } from '#src/console/pages/icons.ts';
import { iconPlace } from '#src/console/pages/pictures.ts';
import { wantPictures } from '#src/console/want-pictures.ts';
import { hasRight } from '#src/contract/roles.ts';
import { LANES, type Lane } from '#src/contract/words.ts';
import { nameOr } from '#src/lib/printable.ts';
import { isUuid } from '#src/lib/uuid.ts';
import { batchList, laneList } from '#src/lists/review.ts';
import type { GameDecision } from '#src/operations/decision-results.ts';
import { passGames, rejectGames } from '#src/operations/decisions.ts';
import { undoGameDecisions } from '#src/operations/undo-decisions.ts';
import { describeChanges } from '#src/review/lane-changes.ts';
import { type LaneSummary, summariseLanes } from '#src/review/lanes.ts';
import { type DecisionResult, OBSTACLES } from '#src/rules/verdicts.ts';
import { operatorOf, redirectOnRefusal, redirectWith, sendError, sendPage } from '#src/site/answers.ts';
import {
  action,
  ago,
  badge,
  formatDuration,
  gameName,
  hiddenFields,
  html,
  link,
  NO_DEFAULT,
  nameInText,
  number,
  type SafeHtml,
  toneOf,
} from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import { operateFor } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { type ById, type LaneFilters, laneFilters, optionalId, toId } from '#src/site/query.ts';
import { sourcesOf } from '#src/site/sources.ts';

const PAGE = 60;
const BATCH_PAGE = 200;
/** Bytes of one selected game: name, id, revision. */
const GAME_MAX_BYTES = 64;
/** The filters of a lane at their longest, and the short fields of a form. */
const FILTERS_MAX_BYTES = 16 * 1024;
/** A form with as many games as a page has, and its text and note at their longest. */
const FORM_MAX_BYTES = PAGE * GAME_MAX_BYTES + DECISION_TEXTS_MAX_BYTES + FILTERS_MAX_BYTES;
const NAMED_MAX = 5;
/** Games at the head of the page whose pictures are fetched; of the others, the icons. */
const OPENED_SOON = 4;

const SEEN = /^([0-9a-f-]{36})@(\d{1,9})$/;
const form = laneFilters.extend({
  act: z.enum(['pass', 'reject']),
  game: z
    .union([z.string(), z.array(z.string())])
    .default([])
    .transform((games) =>
      [games].flat().flatMap((game) => {
        const [, game_id = '', revision] = SEEN.exec(game) ?? [];
        return isUuid(game_id) ? [{ game_id, revision: Number(revision) }] : [];
      }),
    ),
  reason: z.string().default(''),
  text: z.string().default(''),
  note: z.string().default(''),
});

// `autocomplete`: a browser that goes back restores checks by their place, where another game is now.
const selection = ({ game_id, revision, game_name }: LaneGame): SafeHtml =>
  html`<input type="checkbox" autocomplete="off" name="game" value="${game_id}@${revision}"
 aria-label="Select ${nameOr(game_name)}">`;

/** From one game of a lane to the next. */
const step = laneFilters.extend({ after: z.string().max(100).optional().catch(undefined), back: optionalId });

type LaneView = {
  filters: LaneFilters;
  mayDecide: boolean;
  pictures: PictureSet;
  /** What changed since the decision, by game. */
  changes: ReadonlyMap<string, readonly string[]>;
};

/** A game of the list `review.list`. */
const card = (game: LaneGame, { filters, mayDecide, pictures, changes }: LaneView): SafeHtml => {
  const { game_id, game_name, application_name, since, due, decided_status } = game;
  const was = decided_status === null ? null : badge(`was ${decided_status}`, toneOf(decided_status));
  const changed = changes.get(game_id)?.map((each) => html` ${badge(each, 'info')}`);
  return html`<li class="game-card" data-item>${mayDecide ? selection(game) : html`<span></span>`}
${iconPlace(game, pictures)}<div>
<a class="name" href="${link(`/games/${game_id}`, filters)}">${gameName(game_name)}</a>
<span class="meta">${application_name}</span>
<span class="meta">waits ${formatDuration(Date.now() - since.getTime())}, due ${ago(due)}</span>
${was === null ? null : html`<div class="marks">${was}${changed}</div>`}</div></li>`;
};

/** The lanes with their games. @param lane absent: the appeals are open @param appeals how many wait */
export const laneTabs = (
  lane: Lane | undefined,
  filters: LaneFilters,
  summary: LaneSummary,
  appeals: number,
): SafeHtml =>
  html`<nav class="tabs" aria-label="Lanes">${LANES.map(
    (each) => html`<a href="${link('/review', { ...filters, lane: each })}"${each === lane ? CURRENT : null}>
${each === 'new' ? 'New' : 'Changed'} <span class="badge">${number(summary[each].games)}</span></a>`,
  )}<a href="/review/appeals"${lane === undefined ? CURRENT : null}>
Appeals <span class="badge">${number(appeals)}</span></a></nav>`;

const CURRENT = html` aria-current="page"`;

/** The buttons that decide on the selected games. */
const bulk = (reasons: readonly ReasonRow[]): SafeHtml =>
  html`<div class="bulk" role="group" aria-label="Decide on the selected games">
<label class="checks"><input type="checkbox" autocomplete="off" data-select-all> Select all</label>
<output data-selected></output>
<button class="button primary" name="act" value="pass" data-key="p" aria-keyshortcuts="p"
 formnovalidate>Pass <kbd aria-hidden="true">p</kbd></button>
<details id="rejection">
<summary class="button" data-key="r" data-opens="rejection" aria-keyshortcuts="r">
Reject… <kbd aria-hidden="true">r</kbd></summary>
<div class="panel-over">${rejectionFields(reasons)}${sendRejection('Reject')}</div></details></div>`;

/** What happened to the games of a decision, in one sentence. */
const describeResults = (verb: string, games: readonly GameDecision[]): string => {
  const decided = games.filter(({ result }) => result === 'decided').length;
  const others = games.filter(({ result }) => result !== 'decided');
  const count = (...wanted: DecisionResult[]) =>
    others.filter(({ result }) => wanted.includes(result)).length;
  const withdrawn = count('withdrawn') === 0 ? '' : `, ${count('withdrawn')} withdrawn`;
  const fetching = count('fetching') === 0 ? '' : `, ${count('fetching')} whose pictures are being fetched`;
  const obstacles = (['held', 'needs_verdict'] as const)
    .filter((obstacle) => count(obstacle) > 0)
    .map((obstacle) => `, ${count(obstacle)}: ${OBSTACLES[obstacle]}`)
    .join('');
  const names = others.slice(0, NAMED_MAX).map(({ game, game_id }) => nameInText(game?.game_name ?? game_id));
  const why =
    others.length === 0
      ? ''
      : ` ${others.length} not decided (${count('content_moved', 'picture_moved')} moved meanwhile${withdrawn}${fetching}${obstacles}): ${names.join(', ')}${others.length > NAMED_MAX ? ', …' : ''}.`;
  return `${decided} ${verb}.${why}`;
};

/** Adds `/review`, `/batches/:batch_id` and `/undo`. */
export const addReview = (app: FastifyInstance, options: ConsoleOptions): void => {
  const { sql } = options;
  app.get('/review', { config: { right: 'view' } }, async (request, reply) => {
    const { roles } = operatorOf(request);
    const mayDecide = hasRight(roles, 'decide');
    const { application } = laneFilters.parse(request.query);
    const [summary, appeals, list, reasons] = await Promise.all([
      summariseLanes(sql, application),
      countAppeals(sql),
      showList(sourcesOf(options), laneList, {
        path: '/review',
        query: request.query,
        limit: PAGE,
        tabs: ['lane'],
      }),
      listReasons(sql),
    ]);
    const { rows: games, filter, typed, count, pager } = list;
    const { lane = 'new' } = filter;
    const opened = await listPicturedGames(
      sql,
      // With a store of pictures, a game is not passed without them.
      games.slice(0, options.keepsPictures ? PAGE : OPENED_SOON).map(({ game_id }) => game_id),
    );
    const pictures = await wantPictures(
      options,
      games.map((game) => opened.find(({ game_id }) => game_id === game.game_id) ?? game),
    );
    const filters = { ...typed, lane };
    const changes = lane === 'changed' ? await describeChanges(sql, games) : new Map<string, string[]>();
    const view = { filters, mayDecide, pictures, changes };
    const cards = html`<ul class="cards">${games.map((game) => card(game, view))}</ul>
${awaitIcons(games, pictures)}`;
    const shown = mayDecide
      ? html`<form method="post" action="/review">${NO_DEFAULT}${hiddenFields(filters)}${cards}${bulk(reasons)}</form>`
      : cards;
    const said = filter.search === undefined ? laneList.empty : list.sentence;
    const empty = html`<div class="card"><div class="empty"><p>${said}</p></div></div>`;
    const { due } = summary[lane];
    return sendPage(reply, {
      title: 'Review',
      at: '/review',
      body: html`${laneTabs(lane, filters, summary, appeals.open)}${list.filters}
${games.length === 0 ? empty : shown}${filter.search === undefined ? null : html`<p>${count}</p>`}${pager}`,
      lead: due === null ? 'Nothing waits.' : html`The first game of this lane is due ${ago(due)}.`,
      actions: mayDecide
        ? html`${action('/undo', 'Undo', { fields: filters, key: 'u', id: 'undo' })}
${games.length === 0 ? null : html`<a class="button primary" href="${link('/review/next', filters)}">Start</a>`}`
        : undefined,
    });
  });

  app.get('/review/next', { config: { right: 'decide' } }, async (request, reply) => {
    const { lane = 'new', after, back, ...filters } = step.parse(request.query);
    const { login } = operatorOf(request);
    const next = await leadOn(options, login, { filters: { ...filters, lane }, after, back });
    if (next.isFound || !next.hasOthers) return reply.redirect(next.url, 303);
    return redirectWith(reply, next.url, 'Others review the remaining games of this lane now.', 'info');
  });

  app.post('/review', { config: { right: 'decide' }, bodyLimit: FORM_MAX_BYTES }, async (request, reply) => {
    const { act, game, reason, text, note, ...filters } = form.parse(request.body);
    const back = link('/review', filters);
    if (game.length === 0) return redirectWith(reply, back, 'Select at least one game.', 'bad');
    const seen = { games: game, seen_status: 'pending', note } as const;
    return redirectOnRefusal(reply, back, async () => {
      const { batch_id, games } =
        act === 'pass'
          ? await operateFor(request, options, passGames, seen)
          : await operateFor(request, options, rejectGames, { ...seen, reason, text });
      const fetching = games.filter(({ result }) => result === 'fetching').map(({ game_id }) => game_id);
      await wantPictures(options, await listPicturedGames(sql, fetching));
      const tone = games.every(({ result }) => result === 'decided') ? 'good' : 'bad';
      const url = batch_id === null ? back : link(`/batches/${batch_id}`, filters);
      return redirectWith(reply, url, describeResults(act === 'pass' ? 'passed' : 'rejected', games), tone);
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
      body: body({ linkTo, title: `${number(batch.games)} games`, label: 'Games of the batch' }),
    });
  });

  app.post('/undo', { config: { right: 'decide' }, bodyLimit: FILTERS_MAX_BYTES }, async (request, reply) => {
    const { batch, ...filters } = laneFilters
      .extend({ batch: z.uuid().optional() })
      .parse(request.body ?? {});
    const last = batch === undefined ? await findLastDecision(sql, operatorOf(request).login) : undefined;
    const which = batch === undefined ? last && { audit_ids: last.audit_ids } : { batch_id: batch };
    if (which === undefined)
      return redirectWith(reply, link('/review', filters), 'There is no decision of yours to undo.', 'bad');
    const results = await operateFor(request, options, undoGameDecisions, which);
    const undone = results.filter(({ result }) => result === 'undone').length;
    const kept = results.length - undone;
    const batch_id = batch ?? last?.batch_id;
    const url = link(batch_id == null ? `/games/${last?.game_id}` : `/batches/${batch_id}`, filters);
    const text = `${undone} undone.${kept === 0 ? '' : ` ${kept} stay: their content changed, or there is a later decision.`}`;
    return redirectWith(reply, url, text, undone > 0 ? 'good' : 'bad');
  });
};
