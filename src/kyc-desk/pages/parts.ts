/** Parts of several pages of the desk. */
import { type ApprovalRow, recordOf } from '#db/queries/approvals.ts';
import type { Developer } from '#db/queries/kyc-list.ts';
import type { ApprovalKind, KYC_APPROVAL_KINDS } from '#src/contract/approvals.ts';
import { describeRequest } from '#src/lists/approvals.ts';
import { developerList } from '#src/lists/kyc.ts';
import { readFirst, type Sources } from '#src/lists/read.ts';
import { missingProof, type ProofView, proofField } from '#src/site/confirm.ts';
import { action, badge, html, type SafeHtml } from '#src/site/html.ts';
import type { LinkTo } from '#src/site/list-table.ts';
import { requestCard } from '#src/site/requests.ts';

/** Marks a removed application. The other states of an application do not matter here. */
export const removedBadge = ({ status }: Developer): SafeHtml | null =>
  status === 'removed' ? badge('removed', 'warn') : null;

/** The cp_id that the record is of, marked if another one was accepted since. */
export const recordCpId = ({ record_cp_id, application_cp_id }: Developer): SafeHtml =>
  html`<span class="mono">${record_cp_id}</span> ${record_cp_id === application_cp_id ? null : badge('former', 'warn')}`;

/** The names of the fields that a version changed; null without a record. */
export const fieldNames = (changed_fields: readonly string[] | null): SafeHtml | null => {
  if (changed_fields === null) return null;
  if (changed_fields.length === 0) return html`<span class="none">first record</span>`;
  return html`<span class="tags">${changed_fields.map((name) => html`<code>${name}</code>`)}</span>`;
};

export const developerPath = (application_id: string): string =>
  `/developers/${encodeURIComponent(application_id)}`;

/** Links a subject to its page of the desk. Only developers have one. */
export const linkTo: LinkTo = (subject) => (subject.to === 'application' ? developerPath(subject.id) : null);

/** Links to developers, with commas between them. */
export const developerLinks = (ids: readonly string[]): SafeHtml[] =>
  ids.map((id, n) => html`${n === 0 ? '' : ', '}<a href="${developerPath(id)}">${id}</a>`);

/** Developers who wait for a verdict. Those whose record changed after a verdict come first. */
export const readWaiting = async (sources: Sources, limit: number): Promise<Developer[]> => {
  const read = (verdict: 'changed' | 'waiting') =>
    readFirst(developerList, sources, { verdict }, limit, 'received_at');
  const [changed, waiting] = await Promise.all([read('changed'), read('waiting')]);
  const others = waiting.filter(({ verdict_state }) => verdict_state !== 'changed');
  return [...changed, ...others].slice(0, limit);
};

/** Returns the application that a request is about. */
export const applicationIdOf = ({ subject }: ApprovalRow): string => subject.slice('application:'.length);

/** The form that reveals a record, with the password or after a fresh sign-in at the OIDC provider. */
export const revealForm = (url: string, proof: ProofView, fields: SafeHtml): SafeHtml =>
  missingProof(proof, 'A reveal') ??
  html`<form method="post" action="${url}" class="acts">${fields}${proofField(proof)}
<button class="button danger">Reveal for two minutes</button></form>`;

/** What an officer does when a request is approved. */
const ACTS: Record<(typeof KYC_APPROVAL_KINDS)[number], string> = {
  reveal: 'Reveal',
  erase: 'Erase',
  'cp-id': 'Accept',
  verdict: 'Give the verdict',
};

/** Links to what this officer may do about an open request, which the page of the developer shows. */
const actCell = (row: ApprovalRow, login: string): SafeHtml | null => {
  const isOwn = row.requested_by === login;
  if (row.subject.startsWith('operator:') || row.state !== (isOwn ? 'approved' : 'requested')) return null;
  const label = isOwn ? ACTS[row.kind as keyof typeof ACTS] : 'Decide';
  return html`<a class="button" href="${developerPath(applicationIdOf(row))}#requests">${label}…</a>`;
};

const whatCell = (row: ApprovalRow): SafeHtml =>
  html`${describeRequest(row)}<br><small dir="auto">${row.reason}</small>`;

const stateCell = ({ state, approved_by }: ApprovalRow): SafeHtml =>
  html`${badge(state)}${approved_by === null ? null : html`<br><small>with ${approved_by}</small>`}`;

/** How the desk lists requests: the reason is below what is requested, the second person below the state. */
export const requestColumns = (login: string) => ({
  linkTo,
  only: ['application_id', 'state', 'request', 'requested_by'],
  cells: { state: stateCell, request: whatCell },
  more: [{ head: 'Act', cell: (row: ApprovalRow) => actCell(row, login) }],
  stacked: 'lines' as const,
});

/** An open request, with what this operator may do about it. */
export const deskRequest = (row: ApprovalRow, proof: ProofView): SafeHtml => {
  const { login } = proof;
  const at = developerPath(applicationIdOf(row));
  const approval = html`<input type="hidden" name="approval" value="${row.approval_id}">`;
  const fields = { approval: row.approval_id };
  const button = (path: string, label: string, more: Record<string, string | undefined> = {}): SafeHtml =>
    action(`${at}/${path}`, label, { kind: 'danger', fields: { ...fields, ...more } });
  const { verdict } = row.requested;
  const uses: Partial<Record<ApprovalKind, () => SafeHtml>> = {
    reveal: () => revealForm(`${at}/reveal`, proof, approval),
    erase: () => button('erase', 'Erase now'),
    'cp-id': () => button('accept-cp-id', 'Accept now', { cp_id: row.version }),
    verdict: () =>
      button('verdict', `Give the verdict ${verdict}`, { record_id: recordOf(row.version), verdict }),
  };
  const use = uses[row.kind]?.() ?? html``;
  return requestCard(row, { login, mayApprove: true, what: describeRequest(row), use });
};
