/** `/operators`: who may sign in, with which roles. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { listOperators, type Operator } from '#db/queries/operators.ts';
import { RIGHTS, ROLES, type Role } from '#src/contract/roles.ts';
import { signInUrl } from '#src/identity/links.ts';
import {
  addOperator,
  disableOperator,
  enableOperator,
  linkOperator,
  setRoles,
  signOutOperator,
} from '#src/operations/operators.ts';
import { redirectOnRefusal, redirectWith, sendPage } from '#src/site/answers.ts';
import { action, ago, badge, html, type SafeHtml, section, tableSection } from '#src/site/html.ts';
import { operateFor } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';

const words = (text: string): string => text.replaceAll('_', ' ');

// `autocomplete`: a browser that goes back restores boxes by their place, where another operator is now.
const roleBoxes = (checked: readonly Role[]): SafeHtml =>
  html`<div class="checks">${ROLES.map(
    (role) =>
      html`<label><input type="checkbox" autocomplete="off" name="role" value="${role}"${checked.includes(role) ? html` checked` : null}> ${words(role)}</label>`,
  )}</div>`;

const manageCell = (operator: Operator): SafeHtml => {
  const act = (label: string, name: string, kind = 'quiet'): SafeHtml =>
    action('/operators', label, { fields: { act: name, login: operator.login }, kind });
  const isOidc = operator.signs_in_by === 'oidc';
  return html`<details><summary>Manage<span class="hidden"> ${operator.login}</span></summary>
${
  isOidc
    ? html`<p class="soft">The roles come from the OIDC provider.</p>`
    : html`<form method="post" action="/operators" class="rows"><input type="hidden" name="act" value="roles"><input type="hidden" name="login" value="${operator.login}">
<fieldset><legend>Roles of ${operator.login}</legend>${roleBoxes(operator.roles)}</fieldset><button class="button">Set roles</button></form>`
}
<div class="actions">${isOidc || operator.status === 'disabled' ? null : act('New sign-in link', 'link')}${act('Sign out', 'sign_out')}${operator.status === 'active' ? act('Disable', 'disable', 'quiet danger') : act('Enable', 'enable')}</div></details>`;
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

const page = (operators: readonly Operator[], shown?: SafeHtml): SafeHtml => html`${shown ?? null}
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
    { head: 'Manage', cell: manageCell },
  ],
  { empty: 'No operator yet.', stacked: true },
)}
<div class="columns">
${section(
  'Add an operator',
  html`<form method="post" action="/operators" class="form"><input type="hidden" name="act" value="add">
<label class="field"><span>Login</span><input name="login" required autocapitalize="none" spellcheck="false" autocomplete="off"></label>
<label class="field"><span>Name</span><input name="name" autocomplete="off"></label>
<fieldset><legend>Roles</legend>${roleBoxes(['viewer'])}</fieldset>
<button class="button primary">Add operator</button></form>`,
)}
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

  app.get('/operators', { config: { right: 'manage_operators' } }, async (_request, reply) =>
    sendPage(reply, { ...show, body: page(await listOperators(sql)) }),
  );

  app.post('/operators', { config: { right: 'manage_operators' } }, async (request, reply) => {
    const { act, login, name, role } = form.parse(request.body);
    const done = (text: string) => redirectWith(reply, '/operators', text);
    const showLink = async ({ login: of, secret }: { login: string; secret: string }) => {
      const shown = html`<div class="notice"><p>Give this link to ${of}. It works once, for 15 minutes, and is not shown again.</p><p><code>${signInUrl(url(), secret)}</code></p></div>`;
      return sendPage(reply, { ...show, body: page(await listOperators(sql), shown) });
    };
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
