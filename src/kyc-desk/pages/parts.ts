/** Parts of several pages of the desk. */
import type { ApprovalRow } from '#db/queries/approvals.ts';
import type { Developer } from '#db/queries/kyc-desk.ts';
import type { KycState } from '#src/contract/words.ts';
import { missingProof, type ProofView, proofField } from '#src/site/confirm.ts';
import { action, badge, html, type SafeHtml } from '#src/site/html.ts';
import { requestCard } from '#src/site/requests.ts';

const STATES: Record<KycState, { text: string; tone: string }> = {
  pending: { text: 'pending', tone: 'info' },
  sealed: { text: 'sealed', tone: 'good' },
  not_provided: { text: 'not provided', tone: 'warn' },
  cp_id_changed: { text: 'cp_id changed', tone: 'warn' },
  failed: { text: 'failed', tone: 'bad' },
  erased: { text: 'erased', tone: 'plain' },
};

export const stateBadge = (state: KycState): SafeHtml => badge(STATES[state].text, STATES[state].tone);
export const stateText = (state: KycState): string => STATES[state].text;

/** The application's own states, which matter here only if it was removed. */
export const removedBadge = ({ status }: Developer): SafeHtml | null =>
  status === 'removed' ? badge('removed', 'warn') : null;

/** The names of the fields that a version changed; null without a record. */
export const fieldNames = (changed_fields: readonly string[] | null): SafeHtml | null => {
  if (changed_fields === null) return null;
  if (changed_fields.length === 0) return html`<span class="none">first record</span>`;
  return html`<span class="tags">${changed_fields.map((name) => html`<code>${name}</code>`)}</span>`;
};

export const developerPath = (application_id: string): string =>
  `/developers/${encodeURIComponent(application_id)}`;

/** A link to a developer's page. */
export const developerLink = (application_id: string, text = application_id): SafeHtml =>
  html`<a href="${developerPath(application_id)}">${text}</a>`;

/** Which application a request is about. */
export const applicationOf = ({ subject }: ApprovalRow): string => subject.slice('application:'.length);

const WHAT: Record<ApprovalRow['kind'], string> = {
  reveal: 'Reveal the record',
  erase: 'Erase every version of the record',
  'cp-id': 'Accept the new cp_id',
  withdrawals: 'Accept withdrawals',
  officer: 'Make a KYC officer',
};
const OFFICER = {
  add: 'Add this operator',
  roles: 'Give the roles',
  link: 'Open the sign-in of this officer',
};

/** What a request would do. */
export const whatOf = ({ kind, version, asked }: ApprovalRow): string => {
  if (kind === 'cp-id') return `${WHAT[kind]} ${version}`;
  if (kind !== 'officer' || asked.act === undefined) return WHAT[kind];
  const roles = asked.roles?.join(', ').replaceAll('_', ' ');
  return [OFFICER[asked.act], asked.name, roles].filter((part) => part !== undefined).join(': ');
};

/** The form that reveals: with the password, or after a fresh sign-in at the OIDC provider. */
export const revealForm = (url: string, proof: ProofView, fields: SafeHtml): SafeHtml =>
  missingProof(proof, 'A reveal') ??
  html`<form method="post" action="${url}" class="acts">${fields}${proofField(proof)}
<button class="button danger">Reveal for two minutes</button></form>`;

/** An open request, with what this operator may do about it. */
export const deskRequest = (row: ApprovalRow, proof: ProofView): SafeHtml => {
  const { login } = proof;
  const at = developerPath(applicationOf(row));
  const approval = html`<input type="hidden" name="approval" value="${row.approval_id}">`;
  const fields = { approval: row.approval_id };
  const use =
    row.kind === 'reveal'
      ? revealForm(`${at}/reveal`, proof, approval)
      : row.kind === 'erase'
        ? action(`${at}/erase`, 'Erase now', { kind: 'danger', fields })
        : action(`${at}/accept-cp-id`, 'Accept now', {
            kind: 'danger',
            fields: { ...fields, cp_id: row.version },
          });
  return requestCard(row, { login, mayApprove: true, what: whatOf(row), use });
};
