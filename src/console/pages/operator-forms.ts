/** The forms of `/operators`. Each takes the password again, or a fresh sign-in. */
import type { ApprovalRow } from '#db/queries/approvals.ts';
import type { Operator } from '#db/queries/operators.ts';
import { ROLES, type Role } from '#src/contract/roles.ts';
import { REASON_MAX } from '#src/contract/text.ts';
import { describeRequest } from '#src/lists/approvals.ts';
import { missingProof, type ProofView, proofField } from '#src/site/confirm.ts';
import { hiddenFields, html, inWords, NO_DEFAULT, type SafeHtml } from '#src/site/html.ts';
import { requestCard } from '#src/site/requests.ts';
import { openBelow } from '#src/site/table.ts';

const CHANGE = 'A change of operators';

// Without `autocomplete`, a browser that goes back restores boxes by their place on the page, where another operator may be now.
const roleBox = (role: Role, isChecked: boolean): SafeHtml =>
  html`<label><input type="checkbox" autocomplete="off" name="role" value="${role}"${isChecked ? CHECKED : null}>
${inWords(role)}</label>`;

const CHECKED = html` checked`;

const roleBoxes = (checked: readonly Role[]): SafeHtml =>
  html`<div class="checks">${ROLES.map((role) => roleBox(role, checked.includes(role)))}</div>`;

/** Making or enabling an officer or a reviewer is a request, whose reason the second person reads. */
const REASON = html`<label class="field"><span>Reason, if this makes or enables an officer or a reviewer</span>
<input name="reason" maxlength="${REASON_MAX}" autocomplete="off"></label>`;

const act = (label: string, name: string, kind = 'quiet'): SafeHtml =>
  html`<button class="button ${kind}" name="act" value="${name}">${label}</button>`;

const manageForm = ({ login, roles, status, signs_in_by }: Operator, proof: ProofView): SafeHtml => {
  const isOidc = signs_in_by === 'oidc';
  const isActive = status === 'active';
  const rolesPart = isOidc
    ? html`<p class="soft">The roles come from the OIDC provider.</p>${isActive ? null : REASON}${proofField(proof)}`
    : html`<fieldset><legend>Roles of ${login}</legend>${roleBoxes(roles)}</fieldset>${REASON}${proofField(proof)}`;
  return html`<form method="post" action="/operators" class="form">${NO_DEFAULT}
${hiddenFields({ login, had: roles.join(' ') })}${rolesPart}
${proof.has_password ? html`<p class="soft">Each of these takes your password.</p>` : null}
<div class="actions">${isOidc ? null : act('Set roles', 'roles', '')}
${isOidc || !isActive ? null : act('New sign-in link', 'link')}${act('End sessions', 'sign_out')}
${isActive ? act('Disable', 'disable', 'quiet danger apart') : act('Enable', 'enable', 'quiet apart')}</div></form>`;
};

export const manageCell = ({ login }: Operator): SafeHtml => openBelow('Manage', login);

/** The forms of one operator, below its row. */
export const manageForms = (operator: Operator, proof: ProofView): SafeHtml =>
  missingProof(proof, CHANGE) ?? manageForm(operator, proof);

export const addForm = (proof: ProofView): SafeHtml =>
  missingProof(proof, CHANGE) ??
  html`<form method="post" action="/operators" class="form">${hiddenFields({ act: 'add' })}
<label class="field"><span>Login</span>
<input name="login" required autocapitalize="none" spellcheck="false" autocomplete="off"></label>
<label class="field"><span>Name</span><input name="name" autocomplete="off"></label>
<fieldset><legend>Roles</legend>${roleBoxes(['viewer'])}</fieldset>${REASON}${proofField(proof)}
<button class="button primary">Add operator</button></form>`;

/** A request about an operator, with what its administrator does once it is approved. */
export const operatorCard = (row: ApprovalRow, proof: ProofView): SafeHtml => {
  const { act = 'link', name, roles = [] } = row.requested;
  const login = row.subject.slice('operator:'.length);
  const use = html`<form method="post" action="/operators" class="acts">
${hiddenFields({ act, login, name, approval: row.approval_id })}
${roles.map((role) => html`<input type="hidden" name="role" value="${role}">`)}
${proofField(proof)}<button class="button primary">Do it now</button></form>`;
  return requestCard(row, {
    login: proof.login,
    mayApprove: false,
    what: describeRequest(row),
    use: missingProof(proof, CHANGE) ?? use,
  });
};
