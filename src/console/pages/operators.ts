/** `/operators`: who may sign in, with which roles. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { ApprovalRow } from '#db/queries/approvals.ts';
import { findOperator, listOperators, type Operator } from '#db/queries/operators.ts';
import { RIGHTS, ROLES, type Role } from '#src/contract/roles.ts';
import { signInUrl } from '#src/identity/links.ts';
import { refreshOpenRequests } from '#src/operations/approvals.ts';
import {
  addOperator,
  disableOperator,
  enableOperator,
  linkOperator,
  operatorSubject,
  setRoles,
  signOutOperator,
} from '#src/operations/operators.ts';
import { requestApproval } from '#src/operations/requests.ts';
import { readNeed } from '#src/operations/second-person.ts';
import { redirectOnRefusal, redirectWith, sendPage } from '#src/site/answers.ts';
import {
  confirm,
  missingProof,
  PROOF_MAX,
  type ProofView,
  proofField,
  readProof,
} from '#src/site/confirm.ts';
import { ago, badge, hiddenFields, html, type SafeHtml, section, tableSection } from '#src/site/html.ts';
import { operateFor } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { requestCard } from '#src/site/requests.ts';

const words = (text: string): string => text.replaceAll('_', ' ');

// `autocomplete`: a browser that goes back restores boxes by their place, where another operator is now.
const roleBoxes = (checked: readonly Role[]): SafeHtml =>
  html`<div class="checks">${ROLES.map(
    (role) =>
      html`<label><input type="checkbox" autocomplete="off" name="role" value="${role}"${checked.includes(role) ? html` checked` : null}> ${words(role)}</label>`,
  )}</div>`;

/** What makes an officer is requested: the reason is for the one who approves it. */
const reasonField = html`<label class="field"><span>Reason, if this makes a KYC officer</span>
<input name="reason" maxlength="1000" autocomplete="off"></label>`;

const manageForm = (operator: Operator, proof: ProofView): SafeHtml => {
  const { login, roles, status } = operator;
  const act = (label: string, name: string, kind = 'quiet'): SafeHtml =>
    html`<button class="button ${kind}" name="act" value="${name}">${label}</button>`;
  const isOidc = operator.signs_in_by === 'oidc';
  const rolesPart = isOidc
    ? html`<p class="soft">The roles come from the OIDC provider.</p>`
    : html`<fieldset><legend>Roles of ${login}</legend>${roleBoxes(roles)}</fieldset>${reasonField}`;
  const linkPart = isOidc || status === 'disabled' ? null : act('New sign-in link', 'link');
  const statusPart =
    status === 'active' ? act('Disable', 'disable', 'quiet danger') : act('Enable', 'enable');
  return html`<form method="post" action="/operators" class="rows">
<input type="hidden" name="login" value="${login}">${rolesPart}${proofField(proof)}
${isOidc ? null : act('Set roles', 'roles', '')}
<div class="actions">${linkPart}${act('Sign out', 'sign_out')}${statusPart}</div></form>`;
};

const manageCell = (operator: Operator, proof: ProofView): SafeHtml =>
  html`<details><summary>Manage<span class="hidden"> ${operator.login}</span></summary>
${missingProof(proof, CHANGE) ?? manageForm(operator, proof)}</details>`;

const CHANGE = 'A change of operators';

/** A request for an officer, with what its administrator does once it is approved. */
const officerCard = (row: ApprovalRow, proof: ProofView): SafeHtml => {
  const { act = 'link', name, roles = [] } = row.asked;
  const login = row.subject.slice('operator:'.length);
  const use = html`<form method="post" action="/operators" class="acts">
${hiddenFields({ act, login, name, approval: row.approval_id })}
${roles.map((role) => html`<input type="hidden" name="role" value="${role}">`)}
${proofField(proof)}<button class="button primary">Do it now</button></form>`;
  const what = `${login}: ${act} ${words(roles.join(', '))}`;
  const view = { login: proof.login, mayApprove: false, what, use };
  return requestCard(row, { ...view, use: missingProof(proof, CHANGE) ?? use });
};

const form = z.object({
  act: z.enum(['add', 'roles', 'link', 'sign_out', 'disable', 'enable']),
  login: z.string(),
  password: z.string().max(PROOF_MAX).default(''),
  reason: z.string().default(''),
  approval: z.string().optional(),
  name: z.string().default(''),
  role: z
    .union([z.enum(ROLES), z.array(z.enum(ROLES))])
    .default([])
    .transform((roles) => [roles].flat()),
});

type View = { operators: readonly Operator[]; requests: readonly ApprovalRow[]; proof: ProofView };

const addForm = (proof: ProofView): SafeHtml =>
  missingProof(proof, CHANGE) ??
  html`<form method="post" action="/operators" class="form"><input type="hidden" name="act" value="add">
<label class="field"><span>Login</span>
<input name="login" required autocapitalize="none" spellcheck="false" autocomplete="off"></label>
<label class="field"><span>Name</span><input name="name" autocomplete="off"></label>
<fieldset><legend>Roles</legend>${roleBoxes(['viewer'])}</fieldset>${reasonField}${proofField(proof)}
<button class="button primary">Add operator</button></form>`;

const page = ({ operators, requests, proof }: View, shown?: SafeHtml): SafeHtml => html`${shown ?? null}
${requests.length === 0 ? null : section('Requests for KYC officers', html`${requests.map((row) => officerCard(row, proof))}`)}
${tableSection(
  'Operators',
  operators,
  [
    {
      head: 'Operator',
      cell: (row) => html`<strong>${row.name}</strong><br><small class="mono">${row.login}</small>`,
    },
    { head: 'Roles', cell: (row) => words(row.roles.join(', ')) || '–' },
    { head: 'State', cell: (row) => badge(row.status) },
    { head: 'Signs in by', minWidth: 900, cell: (row) => row.signs_in_by },
    { head: 'Sessions', minWidth: 1200, numeric: true, cell: (row) => row.open_sessions },
    { head: 'Last sign-in', minWidth: 640, cell: (row) => ago(row.last_sign_in_at) },
    { head: 'Manage', cell: (row) => manageCell(row, proof) },
  ],
  { empty: 'No operator yet.', stacked: true },
)}
<div class="columns">
${section('Add an operator', addForm(proof))}
${tableSection(
  'What each role may do',
  Object.entries(RIGHTS),
  [
    { head: 'Right', cell: ([right]) => words(right) },
    { head: 'Roles', cell: ([, roles]) => words(roles.join(', ')) },
  ],
  { empty: '', label: 'Rights' },
)}</div>`;

/** Adds `/operators`. */
export const addOperators = (app: FastifyInstance, options: ConsoleOptions): void => {
  const { sql, url } = options;
  const show = { title: 'Operators', at: '/operators' };

  const read = async (request: FastifyRequest): Promise<View> => ({
    operators: await listOperators(sql),
    requests: await refreshOpenRequests(sql, ['officer']),
    proof: await readProof(request, options, '/operators'),
  });

  app.get('/operators', { config: { right: 'manage_operators' } }, async (request, reply) =>
    sendPage(reply, { ...show, body: page(await read(request)) }),
  );

  /** Requests what takes an officer. @returns false if it takes none, or is approved */
  const requestOfficer = async (
    request: FastifyRequest,
    { act, login, name, role, reason, approval }: z.infer<typeof form>,
  ): Promise<boolean> => {
    if (approval !== undefined || (act !== 'add' && act !== 'roles' && act !== 'link')) return false;
    const before = (await findOperator(sql, login.trim().toLowerCase()))?.roles;
    const becomes = act === 'link' ? before?.includes('kyc_officer') : role.includes('kyc_officer');
    const isNew = act === 'link' || !before?.includes('kyc_officer');
    if (!becomes || !isNew || (await readNeed(sql, options.fourEyes, 'officer')) !== 'needed') return false;
    const asked =
      act === 'link'
        ? { act }
        : { act, roles: role, name: act === 'add' && name.trim() !== '' ? name.trim() : undefined };
    const subject = operatorSubject({ login: login.trim() });
    await operateFor(request, options, requestApproval, { kind: 'officer', subject, reason, ...asked });
    return true;
  };

  app.post('/operators', { config: { right: 'manage_operators' } }, async (request, reply) => {
    const given = form.parse(request.body);
    const { act, login, name, role, approval: approval_id } = given;
    const done = (text: string) => redirectWith(reply, '/operators', text);
    const showLink = async ({ login: of, secret }: { login: string; secret: string }) => {
      const shown = html`<div class="notice"><p>Give this link to ${of}. It works once, for 15 minutes, and is not shown again.</p><p><code>${signInUrl(url(), secret)}</code></p></div>`;
      return sendPage(reply, { ...show, body: page(await read(request), shown) });
    };
    return redirectOnRefusal(reply, '/operators', async () => {
      await confirm(request, options, given.password, 'Not changed');
      if (await requestOfficer(request, given))
        return done(
          'Requested. A KYC officer approves it at the KYC desk within an hour, then you do it here.',
        );
      switch (act) {
        case 'add': {
          const added = { login, name: name.trim() || undefined, roles: role, approval_id };
          return showLink(await operateFor(request, options, addOperator, added));
        }
        case 'link':
          return showLink(await operateFor(request, options, linkOperator, { login, approval_id }));
        case 'roles':
          await operateFor(request, options, setRoles, { login, roles: role, approval_id });
          return done(`The roles of ${login} are set. They count at the next click.`);
        case 'sign_out': {
          const { sessions } = await operateFor(request, options, signOutOperator, { login });
          return done(`Sessions of ${login} ended: ${sessions}.`);
        }
        default: {
          const operation = act === 'disable' ? disableOperator : enableOperator;
          const { status } = await operateFor(request, options, operation, { login });
          return done(`${login} is ${status}.`);
        }
      }
    });
  });
};
