/** Requests that wait for a second person: how the console and the KYC desk show them, and what may be done. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type ApprovalRow, findApproval } from '#db/queries/approvals.ts';
import {
  APPROVAL_RIGHTS,
  APPROVE_WITHIN_MINUTES,
  type ApprovalKind,
  USE_WITHIN_MINUTES,
} from '#src/contract/approvals.ts';
import { namesOfRoles, RIGHTS, type Right } from '#src/contract/roles.ts';
import { VERDICTS } from '#src/contract/words.ts';
import { approve, cancelRequest, declineRequest, requestApproval } from '#src/operations/requests.ts';
import { VERDICT_LIFETIME_MS } from '#src/operations/verdicts.ts';
import { redirectAfter } from '#src/site/answers.ts';
import { action, ago, badge, due, facts, formatDuration, html, type SafeHtml } from '#src/site/html.ts';
import { operateFor } from '#src/site/operate.ts';
import type { SiteOptions } from '#src/site/options.ts';
import { texts } from '#src/site/query.ts';

/** Shows the text and the lifetime of a requested verdict, for which the second person answers too. */
const verdictFacts = ({ text, expires = VERDICT_LIFETIME_MS }: ApprovalRow['requested']) =>
  [
    ['The developer reads', text === undefined ? null : html`<span dir="auto">${text}</span>`],
    ['Stands for', formatDuration(expires)],
  ] as const;

/** Shows what is requested, by whom and why. */
const requestFacts = (row: ApprovalRow, what: string): SafeHtml =>
  facts([
    ['What', what],
    ['Requested by', html`${row.requested_by}, ${ago(row.requested_at)}`],
    ['Reason', row.reason],
    ...(row.kind === 'verdict' ? verdictFacts(row.requested) : []),
    ['Approved by', row.approved_by === null ? null : html`${row.approved_by}, ${ago(row.approved_at)}`],
    ['Ends', due(row.expires_at)],
  ]);

type RequestView = { login: string; mayApprove: boolean; what: string; use: SafeHtml };

/** Shows what this operator may do about a request. */
const requestActions = (row: ApprovalRow, { login, mayApprove, use }: RequestView): SafeHtml => {
  const url = `/requests/${row.kind}/${row.approval_id}`;
  if (row.requested_by === login)
    return html`${row.state === 'approved' ? use : null}${action(`${url}/cancel`, 'Cancel the request')}`;
  if (!mayApprove) return html``;
  const kind = row.kind === 'erase' ? 'danger solid' : 'primary';
  const approval = row.state === 'requested' ? action(`${url}/approve`, 'Approve', { kind }) : null;
  return html`${approval}${action(`${url}/decline`, 'Decline')}`;
};

const hintOf = (row: ApprovalRow, login: string): string | null => {
  if (row.requested_by !== login)
    return row.state === 'approved' ? `${row.requested_by} can do it now.` : null;
  return row.state === 'approved'
    ? null
    : 'Another person must approve this within an hour. You cannot approve your own request.';
};

/** One open request with what this operator may do about it. @param view.use what the requester does once it is approved */
export const requestCard = (row: ApprovalRow, view: RequestView): SafeHtml => {
  const hint = hintOf(row, view.login);
  return html`<div class="request"><p>${badge(row.state)}</p>${requestFacts(row, view.what)}
${hint === null ? null : html`<p class="soft">${hint}</p>`}
<div class="acts">${requestActions(row, view)}</div></div>`;
};

/** Most bytes of a form: a list of games, and its texts. */
const FORM_MAX_BYTES = 64 * 1024;

type Actions = {
  /** The kinds that the site handles. They share the right to request and the right to approve. */
  kinds: readonly [ApprovalKind, ...ApprovalKind[]];
  /** Other kinds that are approved, or cancelled, here. */
  alsoApproves?: readonly ApprovalKind[];
  alsoCancels?: readonly ApprovalKind[];
  /** Returns the page of a request's subject. */
  pageOf: (subject: string) => string;
};

/** The fields of a verdict in a form. An operation checks them. */
export const verdictForm = z.object({
  verdict: z.enum(VERDICTS).optional(),
  text: z.string().optional(),
  expires: z.string().optional(),
});

/** Adds the routes that request, approve, cancel and decline. The page of the act itself uses an approval. */
export const addRequestActions = (
  app: FastifyInstance,
  options: SiteOptions,
  { kinds, alsoApproves = [], alsoCancels = [], pageOf }: Actions,
): void => {
  const rights = APPROVAL_RIGHTS[kinds[0]];
  const kind = z.enum(kinds);
  const form = z.object({
    kind,
    subject: z.string(),
    seen: z.string().optional(),
    reason: z.string().default(''),
    ...verdictForm.shape,
    act: z.enum(['selected', 'all']).default('all'),
    game: texts,
  });
  const config = { config: { right: rights.request }, bodyLimit: FORM_MAX_BYTES };

  app.post('/requests', config, (request, reply) => {
    const { act, game, ...requested } = form.parse(request.body);
    const game_ids = act === 'all' ? undefined : game;
    return redirectAfter(reply, pageOf(requested.subject), async () => {
      const given = { ...requested, game_ids } as z.input<typeof requestApproval.input>;
      await operateFor(request, options, requestApproval, given);
      const others = namesOfRoles(RIGHTS[rights.approve]);
      return `Requested. Another ${others} can approve it within ${APPROVE_WITHIN_MINUTES} minutes.`;
    });
  });

  type Given = { approval_id: string; kind: ApprovalKind };
  const addAction = (
    name: string,
    { right, also }: { right: Right; also: readonly ApprovalKind[] },
    work: (request: FastifyRequest, given: Given) => Promise<string>,
  ): void => {
    const params = z.object({ approval_id: z.string(), kind: z.enum([...kinds, ...also]) });
    app.post(`/requests/:kind/:approval_id/${name}`, { config: { right } }, async (request, reply) => {
      const given = params.parse(request.params);
      const id = z.guid().safeParse(given.approval_id).data;
      const row = id === undefined ? undefined : await findApproval(options.sql, id);
      const url = row?.kind === given.kind ? pageOf(row.subject) : '/';
      return redirectAfter(reply, url, () => work(request, given));
    });
  };
  const approval = { right: rights.approve, also: alsoApproves };
  addAction('approve', approval, async (request, given) => {
    const { requested_by } = await operateFor(request, options, approve, given);
    return `Approved. ${requested_by} has ${USE_WITHIN_MINUTES} minutes to do it, once.`;
  });
  addAction('cancel', { right: rights.request, also: alsoCancels }, async (request, given) => {
    await operateFor(request, options, cancelRequest, given);
    return 'The request has ended.';
  });
  addAction('decline', approval, async (request, given) => {
    await operateFor(request, options, declineRequest, given);
    return 'The request has ended.';
  });
};
