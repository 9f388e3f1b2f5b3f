/** `/account`: what operators see and change of their own sign-in. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { findOperatorItem, type Operator } from '#db/queries/operators.ts';
import { listSessionsOf, type OwnSession, type SignedIn } from '#db/queries/sign-in.ts';
import { listRoles } from '#src/contract/roles.ts';
import { createLimitedLog } from '#src/http/limited-log.ts';
import { PASSWORD_MIN } from '#src/identity/password.ts';
import { hashSecret } from '#src/identity/secrets.ts';
import { changePassword, endOwnSessions, setSingleKeys } from '#src/operations/account.ts';
import { operatorOf, redirectWith, refuseForNow, sendPage } from '#src/site/answers.ts';
import {
  action,
  ago,
  badge,
  clock,
  facts,
  flawOf,
  html,
  input,
  mono,
  type SafeHtml,
  section,
} from '#src/site/html.ts';
import { operateFor } from '#src/site/operate.ts';
import type { SiteOptions } from '#src/site/options.ts';
import { readSessionCookie, setSessionCookie } from '#src/site/sign-in.ts';
import { type TableColumn, tableSection } from '#src/site/table.ts';

const passwordForm = z.object({ current: z.string(), password: z.string() });
const sessionForm = z.object({ session: z.string() });
const keysForm = z.object({ single_keys: z.stringbool() });

/** Where the roles come from, and whether the operator has a password here. */
type SignsInBy = Operator['signs_in_by'];

const ROLES_FROM: Record<SignsInBy, string> = {
  oidc: 'The OIDC provider gives them, at each sign-in.',
  password: 'An administrator sets them, in the database of the catalogue.',
  link: 'An administrator sets them, in the database of the catalogue.',
};

const whoPart = ({ login, name, roles }: SignedIn, signsInBy: SignsInBy): SafeHtml =>
  section(
    'You',
    facts([
      ['Name', name],
      ['Login', mono(login)],
      ['Roles', listRoles(roles)],
      ['Where the roles come from', ROLES_FROM[signsInBy]],
    ]),
  );

/** Why a change of the password was refused, and the field that it is about. Null: no field. */
type Refusal = { problem: string; field: 'current' | 'password' | null };

const passwordBody = (login: string, signsInBy: SignsInBy, refusal?: Refusal): SafeHtml => {
  if (signsInBy === 'oidc')
    return html`<div class="body">
<p>You have no password here: you sign in at your organisation, which also changes your password.</p></div>`;
  if (signsInBy === 'link')
    return html`<div class="body"><p>You have no password yet. Another operator can run
<code>npx catalogue operator link ${login}</code>: with that link you set one.</p></div>`;
  const shared = { type: 'password', required: true };
  const flawIn = (field: Refusal['field']) => flawOf(refusal?.field === field ? refusal.problem : undefined);
  const former = { name: 'current', autocomplete: 'current-password' };
  const next = { name: 'password', autocomplete: 'new-password', minlength: PASSWORD_MIN };
  const notice = refusal && html`<p id="problem" class="notice bad" role="alert">${refusal.problem}</p>`;
  return html`<form method="post" action="/account/password" class="form">${notice}
<input autocomplete="username" value="${login}" hidden>
${input('Current password', { ...former, ...shared, ...flawIn('current') })}
${input('New password', { ...next, ...shared, ...flawIn('password') })}
<p class="soft">At least ${PASSWORD_MIN} characters: a few words are enough. Your other sessions end.</p>
<button class="button primary">Change password</button></form>`;
};

const keysPart = ({ single_keys }: SignedIn): SafeHtml => {
  const said = single_keys
    ? 'Single keys act, for example / to search. Press ? to see all.'
    : 'Single keys do nothing. Keys with Ctrl still act.';
  const label = single_keys ? 'Switch single keys off' : 'Switch single keys on';
  const advice = single_keys
    ? html`<p class="soft">Switch them off if you speak to your computer, or press keys by accident.</p>`
    : null;
  return section(
    'Keyboard',
    html`<div class="body"><p>${said}</p>${advice}
<div class="rows">${action('/account/keys', label, { fields: { single_keys: String(!single_keys) } })}</div></div>`,
  );
};

const sessionsPart = (sessions: readonly OwnSession[]): SafeHtml => {
  const end = (label: SafeHtml | string, session: string): SafeHtml =>
    action('/account/sessions', label, { fields: { session }, kind: 'quiet' });
  const beganCell = ({ is_current, started_at }: OwnSession): SafeHtml =>
    html`${clock(started_at)} ${is_current ? badge('this session', 'good') : null}`;
  const endCell = ({ is_current, session_id, started_at }: OwnSession): SafeHtml | null =>
    is_current
      ? null
      : end(html`End<span class="hidden"> the session that began ${clock(started_at)}</span>`, session_id);
  const columns: TableColumn<OwnSession>[] = [
    { head: 'Began', cell: beganCell },
    { head: 'Last seen', fit: 'age', cell: (row) => ago(row.seen_at) },
    { head: 'End', cell: endCell },
  ];
  const aside = sessions.length < 2 ? undefined : end('End all others', 'others');
  return tableSection('Your sessions', sessions, columns, { empty: '', stacked: true, aside });
};

/** Adds the page and its forms, for every operator who is signed in. */
export const addAccount = (app: FastifyInstance, options: SiteOptions): void => {
  const signedIn = { config: { right: 'signed_in' } } as const;
  const warn = createLimitedLog();

  const send = async (reply: FastifyReply, refusal?: Refusal): Promise<FastifyReply> => {
    const operator = operatorOf(reply.request);
    const { login } = operator;
    const session_hash = hashSecret(readSessionCookie(reply.request) ?? '');
    const [found, sessions] = await Promise.all([
      findOperatorItem(options.sql, login),
      listSessionsOf(options.sql, login, session_hash),
    ]);
    const signsInBy = found?.signs_in_by ?? 'link';
    const body = html`<div class="columns">${whoPart(operator, signsInBy)}
${section('Password', passwordBody(login, signsInBy, refusal))}
${keysPart(operator)}</div>${sessionsPart(sessions)}`;
    const lead = 'Your own sign-in: who you are here, your password, your sessions.';
    return sendPage(reply, { title: 'Your account', at: '/account', body, lead });
  };

  app.get('/account', signedIn, (_request, reply) => send(reply));

  app.post('/account/password', signedIn, async (request, reply) => {
    const typed = passwordForm.parse(request.body);
    const result = await operateFor(request, options, changePassword, typed);
    if (result.kind === 'weak') return send(reply.code(422), { problem: result.problem, field: 'password' });
    if (result.kind === 'refused')
      return send(reply.code(422), { problem: 'The current password is wrong.', field: 'current' });
    if (result.kind === 'too_many') {
      const { login } = operatorOf(request);
      warn(request.log, 'password', { address: request.ip, login }, 'too many passwords');
      return send(reply, {
        problem: refuseForNow(reply, 'passwords', result.waitSeconds),
        field: null,
      });
    }
    setSessionCookie(reply, result.session);
    return redirectWith(
      reply,
      '/account',
      `Your password is changed. Other sessions that ended: ${result.ended}.`,
    );
  });

  app.post('/account/keys', signedIn, async (request, reply) => {
    const { single_keys } = await operateFor(request, options, setSingleKeys, keysForm.parse(request.body));
    return redirectWith(reply, '/account', `Single keys are ${single_keys ? 'on' : 'off'}.`);
  });

  app.post('/account/sessions', signedIn, async (request, reply) => {
    const { session } = sessionForm.parse(request.body);
    const isAll = session === 'others';
    const { ended } = await operateFor(request, options, endOwnSessions, { session_id: session });
    if (isAll) return redirectWith(reply, '/account', `Other sessions that ended: ${ended}.`);
    if (ended === 0) return redirectWith(reply, '/account', 'That session had already ended.', 'bad');
    return redirectWith(reply, '/account', 'The session has ended.');
  });
};
