/** `/operators`: who may sign in, with which roles. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { findOperator } from '#db/queries/operators.ts';
import { linkTo } from '#src/console/links.ts';
import { addForm, manageCell, manageForms, operatorCard } from '#src/console/pages/operator-forms.ts';
import { OPERATOR_KINDS } from '#src/contract/approvals.ts';
import { RIGHTS, ROLES, type Role } from '#src/contract/roles.ts';
import { REASON_MAX } from '#src/contract/text.ts';
import { CatalogueError } from '#src/errors.ts';
import { signInUrl } from '#src/identity/links.ts';
import { operatorList } from '#src/lists/operators.ts';
import { refreshOpenRequests } from '#src/operations/approvals.ts';
import {
  addOperator,
  disableOperator,
  enableOperator,
  kindOfChange,
  linkOperator,
  operatorSubject,
  setRoles,
  signOutOperator,
} from '#src/operations/operators.ts';
import { requestApproval } from '#src/operations/requests.ts';
import { readNeed } from '#src/operations/second-person.ts';
import { redirectOnRefusal, redirectWith, sendPage } from '#src/site/answers.ts';
import { confirm, PROOF_MAX, readProof } from '#src/site/confirm.ts';
import { formMaxBytes } from '#src/site/form-size.ts';
import { html, inWords, type SafeHtml, section } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import { operateFor } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { texts } from '#src/site/query.ts';
import { sourcesOf } from '#src/site/sources.ts';
import { tableSection } from '#src/site/table.ts';

const PAGE = 100;

const form = z.object({
  act: z.enum(['add', 'roles', 'link', 'sign_out', 'disable', 'enable']),
  login: z.string(),
  password: z.string().max(PROOF_MAX).default(''),
  reason: z.string().default(''),
  approval: z.string().optional(),
  /** The roles that the form showed. */
  had: z.string().optional(),
  name: z.string().default(''),
  role: texts.pipe(z.array(z.enum(ROLES))),
});

const RIGHTS_TABLE = tableSection(
  'What each role may do',
  Object.entries(RIGHTS),
  [
    { head: 'Right', cell: ([right]) => inWords(right) },
    { head: 'Roles', cell: ([, roles]) => inWords(roles.join(', ')) },
  ],
  { empty: '', label: 'Rights' },
);

/** Refuses a stale form. @throws CatalogueError if others set the roles since the form was shown */
const requireShownRoles = async ({ sql }: ConsoleOptions, { login, had }: z.infer<typeof form>) => {
  const operator = await findOperator(sql, login.trim().toLowerCase());
  if (had === undefined || operator === undefined || operator.roles.join(' ') === had) return;
  throw new CatalogueError(`The roles of ${login} were changed meanwhile. This page shows them.`);
};

/** Requests an act that requires a second person. @returns who approves it; undefined if no approval is needed */
const requestChange = async (
  request: FastifyRequest,
  options: ConsoleOptions,
  { act, login, name, role, reason, approval }: z.infer<typeof form>,
): Promise<string | undefined> => {
  if (approval !== undefined || act === 'sign_out' || act === 'disable') return undefined;
  const { sql, fourEyes } = options;
  const kind = kindOfChange(act, role, await findOperator(sql, login.trim().toLowerCase()));
  if (kind === null || (await readNeed(sql, fourEyes, kind)) !== 'needed') return undefined;
  const roles = act === 'add' || act === 'roles' ? role : undefined;
  const requested = { act, roles, name: act === 'add' ? name.trim() || undefined : undefined };
  const subject = operatorSubject({ login: login.trim() });
  await operateFor(request, options, requestApproval, { kind, subject, reason, ...requested });
  return kind === 'officer'
    ? 'A KYC officer approves it at the KYC desk'
    : 'A reviewer approves it on the page Overview';
};

/** Adds `/operators`. */
export const addOperators = (app: FastifyInstance, options: ConsoleOptions): void => {
  const { url } = options;
  const send = async (reply: FastifyReply, shown: SafeHtml | null = null): Promise<FastifyReply> => {
    const view = { path: '/operators', query: reply.request.query, limit: PAGE };
    const proof = await readProof(reply.request, options, '/operators');
    const requests = await refreshOpenRequests(options.sql, OPERATOR_KINDS);
    const { filters, body } = await showList(sourcesOf(options), operatorList, view);
    const operators = body({
      linkTo,
      only: ['login', 'status', 'roles', 'signs_in_by', 'sessions', 'last_sign_in'],
      cells: { roles: ({ roles }) => inWords(roles.join(', ')) || null },
      more: [{ head: 'Manage', cell: manageCell }],
      below: (row) => manageForms(row, proof),
      stacked: true,
    });
    const cards = requests.map((row) => operatorCard(row, proof));
    const waiting =
      cards.length === 0 ? null : section('Requests for officers and reviewers', html`${cards}`);
    return sendPage(reply, {
      title: 'Operators',
      at: '/operators',
      body: html`${shown}${waiting}${filters}${operators}
<div class="columns">${section('Add an operator', addForm(proof))}${RIGHTS_TABLE}</div>`,
    });
  };

  app.get('/operators', { config: { right: operatorList.right } }, (_request, reply) => send(reply));

  const manager = { config: { right: 'manage_operators' }, bodyLimit: formMaxBytes(REASON_MAX) } as const;
  app.post('/operators', manager, async (request, reply) => {
    const given = form.parse(request.body);
    const { act, login, name, role, approval: approval_id } = given;
    const done = (text: string) => redirectWith(reply, '/operators', text);
    const showLink = ({ login: of, roles, secret }: { login: string; roles: Role[]; secret: string }) =>
      send(
        reply,
        html`<div class="notice" data-instead="/operators">
<p>Give this link to ${of}. It works once, for 15 minutes, and is not shown again.</p>
<p><code>${signInUrl({ console: url(), kycDesk: options.kycDeskUrl }, { roles, secret })}</code></p></div>`,
      );
    return redirectOnRefusal(reply, '/operators', async () => {
      await confirm(request, options, given.password, 'Not changed');
      if (act === 'roles') await requireShownRoles(options, given);
      const approver = await requestChange(request, options, given);
      if (approver !== undefined) return done(`Requested. ${approver} within an hour, then you do it here.`);
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
        case 'disable':
          await operateFor(request, options, disableOperator, { login });
          return done(`${login} is disabled.`);
        case 'enable':
          await operateFor(request, options, enableOperator, { login, approval_id });
          return done(`${login} is active.`);
      }
    });
  });
};
