/** `/operators`: who may sign in, with which roles. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Operator } from '#db/queries/operators.ts';
import { linkTo } from '#src/console/links.ts';
import { RIGHTS, ROLES, type Role } from '#src/contract/roles.ts';
import { signInUrl } from '#src/identity/links.ts';
import { operatorList } from '#src/lists/operators.ts';
import {
  addOperator,
  disableOperator,
  enableOperator,
  linkOperator,
  setRoles,
  signOutOperator,
} from '#src/operations/operators.ts';
import { redirectOnRefusal, redirectWith, sendPage } from '#src/site/answers.ts';
import { action, hiddenFields, html, type SafeHtml, section } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import { operateFor } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { sourcesOf } from '#src/site/sources.ts';
import { tableSection } from '#src/site/table.ts';

const PAGE = 100;

const words = (text: string): string => text.replaceAll('_', ' ');

// `autocomplete`: a browser that goes back restores boxes by their place, where another operator is now.
const roleBox = (role: Role, isChecked: boolean): SafeHtml =>
  html`<label><input type="checkbox" autocomplete="off" name="role" value="${role}"${isChecked ? CHECKED : null}>
${words(role)}</label>`;

const CHECKED = html` checked`;

const roleBoxes = (checked: readonly Role[]): SafeHtml =>
  html`<div class="checks">${ROLES.map((role) => roleBox(role, checked.includes(role)))}</div>`;

const rolesForm = ({ login, roles }: Operator): SafeHtml =>
  html`<form method="post" action="/operators" class="rows">${hiddenFields({ act: 'roles', login })}
<fieldset><legend>Roles of ${login}</legend>${roleBoxes(roles)}</fieldset>
<button class="button">Set roles</button></form>`;

const manageCell = (operator: Operator): SafeHtml => {
  const { login, status, signs_in_by } = operator;
  const act = (label: string, name: string, kind = 'quiet'): SafeHtml =>
    action('/operators', label, { fields: { act: name, login }, kind });
  const isOidc = signs_in_by === 'oidc';
  const isActive = status === 'active';
  const roles = isOidc
    ? html`<p class="soft">The roles come from the OIDC provider.</p>`
    : rolesForm(operator);
  return html`<details><summary>Manage<span class="hidden"> ${login}</span></summary>
${roles}
<div class="actions">${isOidc || !isActive ? null : act('New sign-in link', 'link')}${act('Sign out', 'sign_out')}
${isActive ? act('Disable', 'disable', 'quiet danger') : act('Enable', 'enable')}</div></details>`;
};

const form = z.object({
  act: z.enum(['add', 'roles', 'link', 'sign_out', 'disable', 'enable']),
  login: z.string(),
  name: z.string().default(''),
  role: z
    .union([z.enum(ROLES), z.array(z.enum(ROLES))])
    .default([])
    .transform((roles) => [roles].flat()),
});

const ADD = html`<form method="post" action="/operators" class="form">${hiddenFields({ act: 'add' })}
<label class="field"><span>Login</span>
<input name="login" required autocapitalize="none" spellcheck="false" autocomplete="off"></label>
<label class="field"><span>Name</span><input name="name" autocomplete="off"></label>
<fieldset><legend>Roles</legend>${roleBoxes(['viewer'])}</fieldset>
<button class="button primary">Add operator</button></form>`;

const RIGHTS_TABLE = tableSection(
  'What each role may do',
  Object.entries(RIGHTS),
  [
    { head: 'Right', cell: ([right]) => words(right) },
    { head: 'Roles', cell: ([, roles]) => words(roles.join(', ')) },
  ],
  { empty: '', label: 'Rights' },
);

/** Adds `/operators`. */
export const addOperators = (app: FastifyInstance, options: ConsoleOptions): void => {
  const { url } = options;
  const send = async (reply: FastifyReply, shown: SafeHtml | null = null): Promise<FastifyReply> => {
    const view = { path: '/operators', query: reply.request.query, limit: PAGE };
    const { filters, body } = await showList(sourcesOf(options), operatorList, view);
    const operators = body({
      linkTo,
      cells: { roles: ({ roles }) => words(roles.join(', ')) || null },
      more: [{ head: 'Manage', cell: manageCell }],
      stacked: true,
    });
    return sendPage(reply, {
      title: 'Operators',
      at: '/operators',
      body: html`${shown}${filters}${operators}
<div class="columns">${section('Add an operator', ADD)}${RIGHTS_TABLE}</div>`,
    });
  };

  app.get('/operators', { config: { right: operatorList.right } }, (_request, reply) => send(reply));

  app.post('/operators', { config: { right: 'manage_operators' } }, async (request, reply) => {
    const { act, login, name, role } = form.parse(request.body);
    const done = (text: string) => redirectWith(reply, '/operators', text);
    const showLink = ({ login: of, secret }: { login: string; secret: string }) =>
      send(
        reply,
        html`<div class="notice">
<p>Give this link to ${of}. It works once, for 15 minutes, and is not shown again.</p>
<p><code>${signInUrl(url(), secret)}</code></p></div>`,
      );
    return redirectOnRefusal(reply, '/operators', async () => {
      switch (act) {
        case 'add': {
          const added = { login, name: name.trim() || undefined, roles: role };
          return showLink(await operateFor(request, options, addOperator, added));
        }
        case 'link':
          return showLink(await operateFor(request, options, linkOperator, { login }));
        case 'roles':
          await operateFor(request, options, setRoles, { login, roles: role });
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
