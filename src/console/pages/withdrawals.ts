/** The games that a suspect run would withdraw. An operator withdraws some or all; the rule may require a second person. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { ApprovalRow } from '#db/queries/approvals.ts';
import { operatorActor } from '#db/queries/audit.ts';
import type { RunRow } from '#db/queries/runs.ts';
import type { SignedIn } from '#db/queries/sign-in.ts';
import { findLaterRun, type VanishingGame } from '#db/queries/vanishing-games.ts';
import { awaitIcons } from '#src/console/pages/icons.ts';
import { iconPlace, type PictureSet } from '#src/console/pages/pictures.ts';
import { wantPictures } from '#src/console/want-pictures.ts';
import { hasRight, type Right } from '#src/contract/roles.ts';
import { CatalogueError } from '#src/errors.ts';
import { nameOr } from '#src/lib/printable.ts';
import { readFirst } from '#src/lists/read.ts';
import { runWithdrawalList } from '#src/lists/runs.ts';
import { approve, askForApproval, endRequest, refreshOpenRequests } from '#src/operations/approvals.ts';
import { MissingRoleError, readNeed } from '#src/operations/second-person.ts';
import { acceptWithdrawals } from '#src/review/accept-withdrawals.ts';
import { operatorOf, redirectWith, sendError } from '#src/site/answers.ts';
import { action, gameName, html, NO_DEFAULT, number, type SafeHtml, section } from '#src/site/html.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { toId } from '#src/site/query.ts';
import { requestCard } from '#src/site/requests.ts';
import { sourcesOf } from '#src/site/sources.ts';

/** Games that the gallery shows. When these are withdrawn, it shows the next ones. */
const GALLERY_MAX = 120;
const FORM_MAX_BYTES = 64 * 1024;
const KINDS = ['withdrawals'] as const;

/** The version of such a request is the number of games that the run would withdraw, such as `12 games`. */
const describeRequest = ({ asked, version }: ApprovalRow): string =>
  asked.game_ids === undefined
    ? `withdraw all of them: ${version}`
    : `withdraw ${number(asked.game_ids.length)} of ${version}`;

const REASON = html`<label class="field grow"><span>Reason, for the audit log</span>
<input name="reason" required maxlength="1000"></label>`;

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

/**
 * @param mode what this operator may do: only see the games, ask a second person to approve, or withdraw them
 * @param requestedIds games that an open request names
 */
const gallery = (
  url: string,
  games: readonly VanishingGame[],
  mode: 'view' | 'ask' | 'withdraw',
  requestedIds: ReadonlySet<string>,
  pictures: PictureSet,
): SafeHtml => {
  const cards = html`<ul class="cards">${games.map((game) =>
    card(game, mode !== 'view', requestedIds.has(game.game_id), pictures),
  )}</ul>${awaitIcons(games, pictures)}`;
  if (mode === 'view') return html`<div class="body">${cards}</div>`;
  const verb = mode === 'ask' ? 'Ask to withdraw' : 'Withdraw';
  const buttons = html`<div class="bulk">
<label class="checks"><input type="checkbox" autocomplete="off" data-select-all> Select all</label>
<output data-selected></output>${mode === 'ask' ? REASON : null}
<button class="button primary" name="act" value="selected">${verb} the selected games</button>
<button class="button danger" name="act" value="all">${verb} all of them</button></div>`;
  return html`<form method="post" action="${url}" class="body">${NO_DEFAULT}${cards}${buttons}</form>`;
};

/** The section that the page of a suspect run has. */
export const showWithdrawals = async (
  options: ConsoleOptions,
  { login, roles }: SignedIn,
  { run_id, listing_end }: Pick<RunRow, 'run_id' | 'listing_end'>,
): Promise<SafeHtml> => {
  const { sql, fourEyes } = options;
  const url = `/runs/${run_id}/withdrawals`;
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
          : html`The list has no proper end, so it does not tell which games are gone. The next run reads it again.`
      }</p></div>`,
    );
  const pictures = await wantPictures(options, games);
  const mayAccept = hasRight(roles, 'accept_withdrawals');
  const mayApprove = hasRight(roles, 'approve_withdrawals');
  // An open request comes first for its asker, and for everybody while a second person is needed.
  const isBlocked = requests.some(({ asked_by }) => need === 'needed' || asked_by === login);
  const mode =
    !mayAccept || isBlocked || laterRun !== undefined ? 'view' : need === 'needed' ? 'ask' : 'withdraw';
  const requestedIds = new Set(requests.flatMap((row) => row.asked.game_ids ?? []));
  const cards = requests.map((row) => {
    const at = `${url}/${row.approval_id}`;
    const use = action(`${at}/use`, 'Withdraw the games', { kind: 'danger' });
    return requestCard(row, { login, mayApprove, what: describeRequest(row), url: at, use });
  });
  return html`${requests.length === 0 ? null : section('Waiting for a second person', cards)}
${section(
  `Games that would vanish${games.length === GALLERY_MAX ? `, the first ${GALLERY_MAX}` : ''}`,
  html`${
    laterRun === undefined
      ? null
      : html`<p class="body soft">They can no longer be withdrawn here: <a href="/runs/${laterRun}">a later run</a> has begun, and its list is newer.</p>`
  }${gallery(url, games, mode, requestedIds, pictures)}`,
)}`;
};

const form = z.object({
  act: z.enum(['selected', 'all']),
  game: z.union([z.uuid(), z.array(z.uuid())]).default([]),
  reason: z.string().max(1_000).default(''),
});

type Params = { run_id: string; approval_id: string };

/** Adds the actions of the section: withdraw or ask, approve, cancel, use the approval. */
export const addWithdrawals = (app: FastifyInstance, { sql, fourEyes }: ConsoleOptions): void => {
  /** Redirects to the run, with a notice of what was done or why it was not. */
  const answer = async (
    request: FastifyRequest<{ Params: Params }>,
    reply: FastifyReply,
    work: (run_id: string, login: string) => Promise<string>,
  ): Promise<FastifyReply> => {
    const run_id = toId(request.params.run_id);
    if (run_id === undefined) return redirectWith(reply, '/runs', 'There is no such run.', 'bad');
    const here = `/runs/${run_id}`;
    try {
      return redirectWith(reply, here, await work(run_id, operatorOf(request).login));
    } catch (error) {
      if (error instanceof MissingRoleError) return sendError(reply, 403, 'Not allowed', error.message);
      if (!(error instanceof CatalogueError)) throw error;
      return redirectWith(reply, here, error.message, 'bad');
    }
  };

  app.post<{ Params: Params }>(
    '/runs/:run_id/withdrawals',
    { config: { right: 'accept_withdrawals' }, bodyLimit: FORM_MAX_BYTES },
    (request, reply) => {
      const { act, game, reason } = form.parse(request.body);
      const game_ids = act === 'all' ? undefined : [game].flat();
      return answer(request, reply, async (run_id, login) => {
        if (game_ids?.length === 0) throw new CatalogueError('Select at least one game.');
        if ((await readNeed(sql, fourEyes, 'withdrawals')) === 'needed') {
          const asked = game_ids === undefined ? {} : { game_ids };
          const subject = `run:${run_id}`;
          await askForApproval(sql, login, { kind: 'withdrawals', subject, asked, reason });
          return 'Asked. Another reviewer can approve it here within an hour.';
        }
        const withdrawn = await acceptWithdrawals(sql, run_id, game_ids, operatorActor(login), { fourEyes });
        return `Games withdrawn: ${withdrawn.length}.`;
      });
    },
  );

  const addDeed = (
    deed: 'approve' | 'cancel' | 'use',
    right: Right,
    work: (approval_id: string, login: string, run_id: string) => Promise<string>,
  ): void => {
    const url = `/runs/:run_id/withdrawals/:approval_id/${deed}`;
    app.post<{ Params: Params }>(url, { config: { right } }, (request, reply) =>
      answer(request, reply, async (run_id, login) => work(idOf(request.params.approval_id), login, run_id)),
    );
  };
  addDeed('approve', 'approve_withdrawals', async (approval_id, login) => {
    const { asked_by } = await approve(sql, login, KINDS, approval_id);
    return `Approved. ${asked_by} can withdraw the games within 15 minutes.`;
  });
  // Askers cancel their own request; who may approve declines those of others.
  addDeed('cancel', 'accept_withdrawals', async (approval_id, login) => {
    await endRequest(sql, login, KINDS, approval_id);
    return 'The request has ended. The run waits for a decision again.';
  });
  addDeed('use', 'accept_withdrawals', async (approval_id, login, run_id) => {
    const second = { fourEyes, approval_id };
    // The approval names the games.
    const withdrawn = await acceptWithdrawals(sql, run_id, undefined, operatorActor(login), second);
    return `Games withdrawn: ${withdrawn.length}.`;
  });
};

const idOf = (text: string): string => {
  const id = toId(text);
  if (id !== undefined) return id;
  throw new CatalogueError('There is no such request.');
};
