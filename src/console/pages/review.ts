/** `/review`: the two lanes; many games decided at once; `/batches/:id`; undo. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { findLastDecision } from '#db/queries/console.ts';
import { listBatch } from '#db/queries/decisions.ts';
import { COMPARED_MAX } from '#db/queries/lanes.ts';
import { listPicturedGames } from '#db/queries/picture-fetches.ts';
import type { PictureSet } from '#db/queries/pictures.ts';
import { listReasons } from '#db/queries/reasons.ts';
import { DECISION_TEXTS_MAX_BYTES, rejectionFields } from '#src/console/pages/decision-form.ts';
import { applicationChoices } from '#src/console/pages/games.ts';
import { awaitIcons } from '#src/console/pages/icons.ts';
import { iconPlace } from '#src/console/pages/pictures.ts';
import { wantPictures } from '#src/console/want-pictures.ts';
import { hasRight } from '#src/contract/roles.ts';
import { LANES } from '#src/contract/words.ts';
import { nameOr } from '#src/lib/printable.ts';
import { isUuid } from '#src/lib/uuid.ts';
import { type GameDecision, passGames, rejectGames } from '#src/operations/decisions.ts';
import { undoGameDecisions } from '#src/operations/undo-decisions.ts';
import { type LaneGame, readLane, summariseLanes } from '#src/review/lanes.ts';
import type { DecisionResult } from '#src/rules/verdicts.ts';
import { operatorOf, redirectOnRefusal, redirectWith, sendError, sendPage } from '#src/site/answers.ts';
import {
  action,
  ago,
  badge,
  FILTERS,
  formatAge,
  gameName,
  hiddenFields,
  html,
  link,
  NO_DEFAULT,
  nameInText,
  number,
  pager,
  type SafeHtml,
  select,
  tableSection,
} from '#src/site/html.ts';
import { operateFor } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { type ById, type LaneFilters, laneFilters, optionalText, toId } from '#src/site/query.ts';

const PAGE = 60;
/** Bytes of one selected game: name, id, revision. */
const GAME_MAX_BYTES = 64;
/** The filters of a lane at their longest, and the short fields of a form. */
const FILTERS_MAX_BYTES = 16 * 1024;
/** A form with as many games as a page has, and its text and note at their longest. */
const FORM_MAX_BYTES = PAGE * GAME_MAX_BYTES + DECISION_TEXTS_MAX_BYTES + FILTERS_MAX_BYTES;
const NAMED_MAX = 5;
/** Games at the head of the page whose pictures are fetched; of the others, the icons. */
const OPENED_SOON = 4;

const query = laneFilters.extend({ lane: z.enum(LANES).catch('new'), at: optionalText });

const SEEN = /^([0-9a-f-]{36})@(\d{1,9})$/;
const form = query.omit({ at: true }).extend({
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
const card = (game: LaneGame, filters: LaneFilters, mayDecide: boolean, pictures: PictureSet): SafeHtml =>
  html`<li class="game-card" data-item>${
    mayDecide
      ? html`<input type="checkbox" autocomplete="off" name="game" value="${game.game_id}@${game.revision}" aria-label="Select ${nameOr(game.game_name)}">`
      : html`<span></span>`
  }${iconPlace(game, pictures)}<div><a class="name" href="${link(`/games/${game.game_id}`, filters)}">${gameName(game.game_name)}</a><span class="meta">${game.application_name}</span><span class="meta">waits ${formatAge(Date.now() - game.since.getTime())}${
    game.decided_status === null ? '' : `, ${game.decided_status} before`
  }</span></div></li>`;

/** What happened to the games of a decision, in one sentence. */
const describeResults = (verb: string, games: readonly GameDecision[]): string => {
  const decided = games.filter(({ result }) => result === 'decided').length;
  const others = games.filter(({ result }) => result !== 'decided');
  const count = (...wanted: DecisionResult[]) =>
    others.filter(({ result }) => wanted.includes(result)).length;
  const withdrawn = count('withdrawn') === 0 ? '' : `, ${count('withdrawn')} withdrawn`;
  const fetching = count('fetching') === 0 ? '' : `, ${count('fetching')} whose pictures are being fetched`;
  const names = others.slice(0, NAMED_MAX).map(({ game, game_id }) => nameInText(game?.game_name ?? game_id));
  const why =
    others.length === 0
      ? ''
      : ` ${others.length} not decided (${count('content_moved', 'picture_moved')} moved meanwhile${withdrawn}${fetching}): ${names.join(', ')}${others.length > NAMED_MAX ? ', …' : ''}.`;
  return `${decided} ${verb}.${why}`;
};

/** Adds `/review`, `/batches/:batch_id` and `/undo`. */
export const addReview = (app: FastifyInstance, options: ConsoleOptions): void => {
  const { sql } = options;
  app.get('/review', { config: { right: 'view' } }, async (request, reply) => {
    const { lane, application, q, at } = query.parse(request.query);
    const { roles } = operatorOf(request);
    const mayDecide = hasRight(roles, 'decide');
    const [summary, { games, next }, choices, reasons] = await Promise.all([
      summariseLanes(sql, application),
      readLane(sql, lane, { application_id: application, text: q, cursor: at, limit: PAGE }),
      applicationChoices(sql, application),
      listReasons(sql),
    ]);
    const opened = await listPicturedGames(
      sql,
      // With a store of pictures, a game is not passed without them.
      games.slice(0, options.keepsPictures ? PAGE : OPENED_SOON).map(({ game_id }) => game_id),
    );
    const pictures = await wantPictures(
      options,
      games.map((game) => opened.find(({ game_id }) => game_id === game.game_id) ?? game),
    );
    const filters = { lane, application, q };
    const tabs = html`<nav class="tabs" aria-label="Lanes">${LANES.map(
      (each) =>
        html`<a href="${link('/review', { ...filters, lane: each })}"${each === lane ? html` aria-current="page"` : null}>${each === 'new' ? 'New' : 'Changed'} <span class="badge">${number(summary[each].games)}</span></a>`,
    )}</nav>`;
    const bulk = html`<div class="bulk" role="group" aria-label="Decide on the selected games"><label class="checks"><input type="checkbox" autocomplete="off" data-select-all> Select all</label><output data-selected></output>
<button class="button primary" name="act" value="pass" data-key="p" formnovalidate>Pass <kbd>p</kbd></button>
<details id="rejection"><summary class="button" data-key="r" data-opens="rejection">Reject <kbd>r</kbd></summary><div class="form">${rejectionFields(reasons)}<button class="button danger" name="act" value="reject">Reject</button></div></details></div>`;
    const cards = html`<ul class="cards">${games.map((game) => card(game, filters, mayDecide, pictures))}</ul>${awaitIcons(games, pictures)}`;
    const isCut = next !== null && games.length < PAGE;
    const empty = html`<div class="card"><div class="empty"><p>${q === undefined ? 'Nothing waits in this lane.' : isCut ? 'No match so far.' : at === undefined ? 'No game of this lane matches.' : 'No further game of this lane matches.'}</p></div></div>`;
    const body = html`${tabs}<form method="get" ${FILTERS} role="search">${hiddenFields({ lane })}
<label class="field grow"><span>Name</span><input type="search" name="q" value="${q ?? ''}"></label>
${select('application', 'Application', choices, application ?? '')}<button class="button">Filter</button></form>
${games.length === 0 ? empty : mayDecide ? html`<form method="post" action="/review">${NO_DEFAULT}${hiddenFields(filters)}${cards}${bulk}</form>` : cards}
${isCut ? html`<p class="soft">One page compares ${number(COMPARED_MAX)} names. The search goes on with the next ones.</p>` : null}
${pager([
  ['First', at === undefined ? null : link('/review', filters)],
  [isCut ? 'Search further' : 'Next', next === null ? null : link('/review', { ...filters, at: next })],
])}`;
    const oldest = summary[lane].oldest;
    return sendPage(reply, {
      title: 'Review',
      at: '/review',
      body,
      lead: oldest === null ? 'Nothing waits.' : html`The first game of this lane came ${ago(oldest)}.`,
      actions: mayDecide ? action('/undo', 'Undo', { fields: filters, key: 'u' }) : undefined,
    });
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
    const rows = batch_id === undefined ? [] : await listBatch(sql, batch_id);
    const [first] = rows;
    if (batch_id === undefined || first === undefined)
      return sendError(reply, 404, 'No such batch', 'There is no batch of decisions with this id.');
    const standing = rows.filter(({ undone_at }) => undone_at === null).length;
    const mayUndo = standing > 0 && hasRight(operatorOf(request).roles, 'decide');
    const body = tableSection(
      `${rows.length} games`,
      rows,
      [
        {
          head: 'Game',
          cell: (row) => html`<a href="/games/${row.game_id}">${gameName(row.game_name)}</a>`,
        },
        { head: 'Application', minWidth: 640, cell: (row) => row.application_id },
        {
          head: 'Decision',
          cell: (row) => (row.undone_at === null ? badge(row.audit_status) : badge('undone')),
        },
        { head: 'Revision', numeric: true, minWidth: 900, cell: (row) => row.revision },
        { head: 'Now', cell: (row) => badge(row.game_status) },
      ],
      { empty: '', label: 'Games of the batch' },
    );
    return sendPage(reply, {
      title: 'Batch of decisions',
      at: '/review',
      parent: ['Review', link('/review', filters)],
      lead: html`${badge(first.audit_status)} by ${first.decided_by}, ${ago(first.decided_at)}`,
      actions: html`${mayUndo ? action('/undo', 'Undo', { fields: { ...filters, batch: batch_id }, key: 'u' }) : null}<a class="button" href="${link('/review', filters)}">Back to review</a>`,
      body,
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
