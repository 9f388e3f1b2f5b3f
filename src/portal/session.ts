/** `/portal/sign-in`, `/portal/sign-out`, and who is signed in at the portal. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  FAILURES_COUNTED,
  GIVEN_UP_COUNTED,
  type PortalCounts,
  readPortalCounts,
} from '#db/queries/navigation-counts.ts';
import type { PortalUser } from '#db/queries/portal-sessions.ts';
import { SESSION_HOURS } from '#db/queries/sign-in.ts';
import { readPortalSession, signInByToken, signOutOfPortal } from '#src/identity/portal.ts';
import { hashSecret } from '#src/identity/secrets.ts';
import { applicationCaller } from '#src/operations/operate.ts';
import type { Caller } from '#src/operations/operation.ts';
import { HTML, refuseForNow, sendPlain, takeNotice } from '#src/site/answers.ts';
import { clearCookie, explainLostSession, readCookie, setCookie } from '#src/site/cookies.ts';
import { mayMendAddress } from '#src/site/event-cells.ts';
import {
  flawOf,
  html,
  input,
  number,
  numberUpTo,
  type SafeHtml,
  section,
  type Tone,
} from '#src/site/html.ts';
import { framedPage, type Page, type PlaceCounts } from '#src/site/layout.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { changesState } from '#src/site/origin.ts';
import { isPolling } from '#src/site/site.ts';

declare module 'fastify' {
  interface FastifyInstance {
    countForDeveloper: (request: FastifyRequest) => Promise<PortalCounts>;
  }
  interface FastifyRequest {
    /** Who is signed in; null outside the portal and on its public pages. */
    holder: PortalUser | null;
    /** What waits for the developer, once it is read: a page and its menu show the same. */
    portalCounts: Promise<PortalCounts> | null;
  }
}

/** The options of a route for developers. */
export const SIGNED_IN = { config: { right: 'application' } } as const;

const COOKIE = 'catalogue_portal';
const form = z.object({ token: z.string().max(1_024) });

const REFUSALS = {
  unknown: 'This is no API token of this platform: check that it is complete.',
  ended: 'This token has expired or is revoked: ask the platform for a new one.',
  operator: "This is an operator's token: use one of an application.",
};

/** @param contact where the operators are reached */
const signInForm = (contact: string | undefined, problem?: string): SafeHtml => {
  const token = { name: 'token', type: 'password', required: true, autofocus: true, ...flawOf(problem) };
  return html`<h1>Developer portal</h1>
<p>Sign in with an API token of your application.</p>
${problem === undefined ? null : html`<p id="problem" role="alert">${problem}</p>`}
<form method="post" action="/portal/sign-in">
${input('API token', { ...token, autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false' })}
<button class="button primary">Sign in</button></form>
<p>No token? The platform's operators create one.${contact && html` <a href="${contact}">Write to them</a>`}</p>`;
};

/** Returns the developer of a request that passed the check. */
export const holderOf = (request: FastifyRequest): PortalUser => {
  if (request.holder === null) throw new Error('this route is public: it has no holder');
  return request.holder;
};

/** Returns the developer of a request as the caller of operations. */
export const callerOfHolder = (request: FastifyRequest): Caller => {
  const { application_id, token_id } = holderOf(request);
  const portal = hashSecret(readCookie(request, COOKIE) ?? '');
  return { ...applicationCaller(application_id, token_id), portal };
};

const PLACES = [
  ['/portal', 'Overview', 'M3 3h7v7H3zM14 3h7v4h-7zM14 11h7v10h-7zM3 14h7v7H3z'],
  ['/portal/games', 'Games', 'M4 5h7v6H4zM13 5h7v6h-7zM4 13h7v6H4zM13 13h7v6h-7z'],
  ['/portal/runs', 'Failures', 'M12 4l9 16H3zM12 10v4M12 17v.5'],
  ['/portal/events', 'Events', 'M4 5h16v11H9l-5 4z'],
  ['/portal/checks', 'Checks', 'M4 12l5 5L20 6'],
] as const;

/** The mark of a place, in the colour of its card. @param said what a screen reader reads in place of the "!" */
const mark = (tone: Tone, said: string): SafeHtml =>
  html`<span class="${tone}" aria-hidden="true">!</span><span class="hidden">${said}</span>`;

const count = (tone: Tone, shown: string): SafeHtml => html`<span class="${tone}">${shown}</span>`;

const failuresMark = ({ is_unread, is_suspect, failures }: PortalCounts): SafeHtml | undefined => {
  if (is_unread) return mark('bad', 'games are not read');
  if (is_suspect) return mark('warn', 'your list is in doubt');
  return failures > 0 ? count('warn', numberUpTo(FAILURES_COUNTED, failures)) : undefined;
};

/** Games that are rejected, or have a message that waits. */
const gamesCount = ({ rejected, asked }: PortalCounts): SafeHtml | undefined => {
  const games = Object.values(asked).reduce((sum, each) => sum + each, rejected);
  return games > 0 ? count(rejected > 0 ? 'bad' : 'warn', number(games)) : undefined;
};

const eventsMark = (counted: PortalCounts): SafeHtml | undefined => {
  if (mayMendAddress(counted)) return mark(counted.status === 'off' ? 'bad' : 'warn', 'do not arrive');
  const { given_up } = counted;
  return given_up > 0 ? count('warn', numberUpTo(GIVEN_UP_COUNTED, given_up)) : undefined;
};

const toPlaces = (counted: PortalCounts): PlaceCounts => ({
  '/portal/games': gamesCount(counted),
  '/portal/runs': failuresMark(counted),
  '/portal/events': eventsMark(counted),
  ...(counted.broken > 0 && { '/portal/checks': count('bad', number(counted.broken)) }),
});

/** The form that finds a game by its name or id, stored or not. */
export const findForm = (q = ''): SafeHtml =>
  html`<form method="get" action="/portal/games" class="find" role="search" aria-label="Find a game" autocomplete="off">
<label><span class="hidden">Name or game_id</span>
<input type="search" name="q" value="${q}" placeholder="Name or game_id" required></label>
<button class="button">Find</button></form>`;

/** Sends a page of the portal. Each has the search beside its title. */
export const sendPortal = async (reply: FastifyReply, page: Page): Promise<FastifyReply> => {
  const notice = takeNotice(reply);
  const { name, application_id, token_name } = holderOf(reply.request);
  const places = toPlaces(await reply.server.countForDeveloper(reply.request));
  const who = html`<strong data-who="${application_id}" dir="auto">${name}</strong><span>${application_id}, token "${token_name}"</span>`;
  const around = {
    site: reply.server.frame.site,
    name: 'Developer portal',
    base: '/portal',
    places: PLACES,
    who,
    warning: null,
    counts: () => places,
  };
  return reply.type(HTML).send(String(framedPage({ actions: findForm(), ...page, notice }, around)));
};

/** Adds sign-in, sign-out and the check of every route with the right `application`. */
export const addPortalSession = (portal: FastifyInstance, { sql, contact }: ConsoleOptions): void => {
  portal.decorateRequest('holder', null);
  portal.decorateRequest('portalCounts', null);
  portal.decorate('countForDeveloper', (request: FastifyRequest) => {
    request.portalCounts ??= readPortalCounts(sql, holderOf(request).application_id);
    return request.portalCounts;
  });
  const requireHolder = async (request: FastifyRequest, reply: FastifyReply) => {
    if (request.routeOptions.config.right !== 'application') return;
    request.holder = (await readPortalSession(sql, readCookie(request, COOKIE), !isPolling(request))) ?? null;
    if (request.holder !== null) return;
    if (request.method === 'GET' && !isPolling(request)) return reply.redirect('/portal/sign-in', 303);
    return sendPlain(
      reply.code(401),
      'Not signed in',
      html`<h1>Not signed in</h1><p>Your session has ended. <a href="/portal/sign-in">Sign in</a></p>`,
    );
  };
  portal.addHook('onRequest', requireHolder);
  // A body may take ten seconds, within which the session or its token may end.
  portal.addHook('preHandler', async (request, reply) =>
    changesState(request.method) ? requireHolder(request, reply) : undefined,
  );

  portal.get('/portal/sign-in', { config: { right: 'public' } }, async (_request, reply) =>
    sendPlain(reply, 'Developer portal', signInForm(contact)),
  );

  portal.post('/portal/sign-in', { config: { right: 'public' } }, async (request, reply) => {
    const { token } = form.parse(request.body);
    const lost = explainLostSession(request);
    if (lost !== undefined) return sendPlain(reply.code(422), 'Developer portal', signInForm(contact, lost));
    const result = await signInByToken(sql, token.trim(), request.ip);
    if (result.kind === 'refused')
      return sendPlain(reply.code(401), 'Developer portal', signInForm(contact, REFUSALS[result.why]));
    if (result.kind === 'too_many') {
      const problem = refuseForNow(reply, 'sign-ins', result.waitSeconds);
      return sendPlain(reply, 'Developer portal', signInForm(contact, problem));
    }
    const former = readCookie(request, COOKIE);
    if (former !== undefined) await signOutOfPortal(sql, former);
    const maxAge = SESSION_HOURS * 3_600;
    return setCookie(reply, COOKIE, result.session, { maxAge }).redirect('/portal', 303);
  });

  portal.get('/portal/*', SIGNED_IN, async (_request, reply) =>
    sendPortal(reply.code(404), {
      title: 'Not found',
      at: '',
      lead: 'There is no page at this address.',
      body: section(
        undefined,
        html`<div class="empty"><p>A game is found by its name or game_id; everything else is in these places.</p>
<p class="actions"><a class="button primary" href="/portal">Overview</a>${PLACES.slice(1).map(
          ([path, label]) => html`<a class="button" href="${path}">${label}</a>`,
        )}</p></div>`,
      ),
    }),
  );

  portal.post('/portal/sign-out', SIGNED_IN, async (request, reply) => {
    const session = readCookie(request, COOKIE);
    if (session !== undefined) await signOutOfPortal(sql, session);
    return clearCookie(reply, COOKIE).redirect('/portal/sign-in', 303);
  });
};
