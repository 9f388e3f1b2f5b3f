/** The games that a suspect run would withdraw. An operator withdraws some or all; the rule may require a second person. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { ApprovalRow } from '#db/queries/approvals.ts';
import type { PictureSet } from '#db/queries/pictures.ts';
import type { RunRow } from '#db/queries/runs.ts';
import type { SignedIn } from '#db/queries/sign-in.ts';
import { findLaterRun, type VanishingGame } from '#db/queries/vanishing-games.ts';
import { awaitIcons } from '#src/console/pages/icons.ts';
import { iconPlace } from '#src/console/pages/pictures.ts';
import { wantPictures } from '#src/console/want-pictures.ts';
import { OPERATOR_KINDS } from '#src/contract/approvals.ts';
import { hasRight } from '#src/contract/roles.ts';
import { nameOr } from '#src/lib/printable.ts';
import { readFirst } from '#src/lists/read.ts';
import { runWithdrawalList } from '#src/lists/runs.ts';
import { refreshOpenRequests } from '#src/operations/approvals.ts';
import { readNeed } from '#src/operations/second-person.ts';
import { acceptWithdrawals } from '#src/operations/withdrawals.ts';
import { redirectAfter } from '#src/site/answers.ts';
import {
  action,
  gameName,
  hiddenFields,
  html,
  NO_DEFAULT,
  number,
  type SafeHtml,
  section,
} from '#src/site/html.ts';
import { operateFor } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { texts } from '#src/site/query.ts';
import { addRequestActions, requestCard } from '#src/site/requests.ts';
import { sourcesOf } from '#src/site/sources.ts';

/** Games that the gallery shows. When these are withdrawn, it shows the next ones. */
const GALLERY_MAX = 120;
const FORM_MAX_BYTES = 64 * 1024;
const KINDS = ['withdrawals'] as const;

/** The version of such a request is the number of games that the run would withdraw, such as `12 games`. */
const describeRequest = ({ requested, version }: ApprovalRow): string =>
  requested.game_ids === undefined
    ? `withdraw all of them: ${version}`
    : `withdraw ${number(requested.game_ids.length)} of ${version}`;

/** A game of the list `run.withdrawals`. */
const card = (
  game: VanishingGame,
  maySelect: boolean,
  isRequested: boolean,
  pictures: PictureSet,
): SafeHtml => {
  const { game_id, game_name, application_game_id, audit_status } = game;
  const box = maySelect
    ? html`<input type="checkbox" autocomplete="off" name="game" value="${game_id}"
 aria-label="Select ${nameOr(game_name)}">`
    : html`<span></span>`;
  return html`<li class="game-card" data-item>${box}${iconPlace(game, pictures)}<div>
<a class="name" href="/games/${game_id}">${gameName(game_name)}</a>
<span class="meta">${application_game_id}</span>
<span class="meta">${audit_status}${isRequested ? ', in a request' : ''}</span></div></li>`;
};

/** The form that withdraws the selected games, or requests that a second person approves it. */
const galleryForm = (run_id: string, mode: 'request' | 'withdraw', cards: SafeHtml): SafeHtml => {
  const isRequest = mode === 'request';
  const url = isRequest ? '/requests' : `/runs/${run_id}/withdrawals`;
  const fields = hiddenFields({ kind: 'withdrawals', subject: `run:${run_id}` });
  const reason = html`<label class="field grow"><span>Reason, for the audit log</span>
<input name="reason" required maxlength="1000"></label>`;
  const verb = isRequest ? 'Request to withdraw' : 'Withdraw';
  return html`<form method="post" action="${url}" class="body">${NO_DEFAULT}${isRequest ? fields : null}${cards}
<div class="bulk">
<label class="checks"><input type="checkbox" autocomplete="off" data-select-all> Select all</label>
<output data-selected></output>
${isRequest ? reason : null}
<button class="button primary" name="act" value="selected">${verb} the selected games</button>
<button class="button danger" name="act" value="all">${verb} all of them</button></div></form>`;
};

/**
 * @param mode what this operator may do: only see the games, request their withdrawal, or withdraw them
 * @param requestedIds games that an open request names
 */
const gallery = (
  run_id: string,
  games: readonly VanishingGame[],
  mode: 'view' | 'request' | 'withdraw',
  requestedIds: ReadonlySet<string>,
  pictures: PictureSet,
): SafeHtml => {
  const cards = html`<ul class="cards">${games.map((game) =>
    card(game, mode !== 'view', requestedIds.has(game.game_id), pictures),
  )}</ul>${awaitIcons(games, pictures)}`;
  return mode === 'view' ? html`<div class="body">${cards}</div>` : galleryForm(run_id, mode, cards);
};

/** The section that the page of a suspect run has. */
export const showWithdrawals = async (
  options: ConsoleOptions,
  { login, roles }: SignedIn,
  { run_id, listing_end }: Pick<RunRow, 'run_id' | 'listing_end'>,
): Promise<SafeHtml> => {
  const { sql, fourEyes } = options;
  const [games, laterRun, requests, need] = await Promise.all([
    readFirst(runWithdrawalList, sourcesOf(options), { run_id }, GALLERY_MAX),
    findLaterRun(sql, run_id),
    refreshOpenRequests(sql, KINDS, `run:${run_id}`),
    readNeed(sql, fourEyes, 'withdrawals'),
  ]);
  if (games.length === 0)
    return section(
      'Games that would vanish',
      html`<div class="empty"><p>${
        listing_end === null || listing_end === 'complete'
          ? html`Nothing waits for a decision: the games were withdrawn, are listed again, or a later run decides on them.`
          : html`The list has no proper end, so games that it does not name may still exist. The next run reads it again.`
      }</p></div>`,
    );
  const pictures = await wantPictures(options, games);
  const mayAccept = hasRight(roles, 'accept_withdrawals');
  const mayApprove = hasRight(roles, 'approve_withdrawals');
  // An open request comes first for its requester, and for everybody while a second person is needed.
  const isBlocked = requests.some(({ requested_by }) => need === 'needed' || requested_by === login);
  const way = need === 'needed' ? 'request' : 'withdraw';
  const mode = mayAccept && !isBlocked && laterRun === undefined ? way : 'view';
  const requestedIds = new Set(requests.flatMap((row) => row.requested.game_ids ?? []));
  const cards = requests.map((row) => {
    const fields = { approval: row.approval_id };
    const use = action(`/runs/${run_id}/withdrawals`, 'Withdraw the games', { kind: 'danger', fields });
    return requestCard(row, { login, mayApprove, what: describeRequest(row), use });
  });
  const first = games.length === GALLERY_MAX ? `, the first ${GALLERY_MAX}` : '';
  const shown = gallery(run_id, games, mode, requestedIds, pictures);
  return html`${requests.length === 0 ? null : section('Waiting for a second person', cards)}
${section(`Games that would vanish${first}`, html`${laterRun === undefined ? null : tooLate(laterRun)}${shown}`)}`;
};

const tooLate = (laterRun: string): SafeHtml =>
  html`<p class="body soft">They can no longer be withdrawn here:
<a href="/runs/${laterRun}">a later run</a> has begun, and its list is newer.</p>`;

const form = z.object({
  act: z.enum(['selected', 'all']).default('all'),
  game: texts,
  /** It names the games. */
  approval: z.string().optional(),
});

/** Adds the actions of the section: withdraw, and what the rule of two persons takes. */
export const addWithdrawals = (app: FastifyInstance, options: ConsoleOptions): void => {
  app.post<{ Params: { run_id: string } }>(
    '/runs/:run_id/withdrawals',
    { config: { right: 'accept_withdrawals' }, bodyLimit: FORM_MAX_BYTES },
    (request, reply) => {
      const { run_id } = request.params;
      const { act, game, approval: approval_id } = form.parse(request.body);
      return redirectAfter(reply, pageOfRun(run_id), async () => {
        const wanted = { run_id, game_ids: act === 'all' ? undefined : game, approval_id };
        const { game_ids } = await operateFor(request, options, acceptWithdrawals, wanted);
        return `Games withdrawn: ${game_ids.length}.`;
      });
    },
  );
  addRequestActions(app, options, {
    kinds: KINDS,
    alsoApproves: ['reviewer'],
    alsoCancels: OPERATOR_KINDS,
    pageOf: (subject) =>
      subject.startsWith('operator:') ? '/operators' : pageOfRun(subject.slice('run:'.length)),
  });
};

const pageOfRun = (run_id: string): string => `/runs/${encodeURIComponent(run_id)}`;
