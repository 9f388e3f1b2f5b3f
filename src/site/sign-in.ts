/** `/sign-in` and `/sign-out`. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { SESSION_HOURS } from '#db/queries/sign-in.ts';
import { CatalogueError } from '#src/errors.ts';
import { createLimitedLog } from '#src/http/limited-log.ts';
import { createOidc } from '#src/identity/oidc.ts';
import { PASSWORD_MIN } from '#src/identity/password.ts';
import {
  readLink,
  readSession,
  signInByLink,
  signInByPassword,
  signOut,
  TooManySignInsError,
} from '#src/identity/sign-in.ts';
import { RETRY_S, refuseForNow, sendError, sendPlain } from '#src/site/answers.ts';
import { clearCookie, explainLostSession, readCookie, setCookie } from '#src/site/cookies.ts';
import { flawOf, hiddenFields, html, input, link, type SafeHtml } from '#src/site/html.ts';
import type { SiteOptions } from '#src/site/options.ts';
import { FROM_ANOTHER_SITE, isLedFromElsewhere, localPath } from '#src/site/origin.ts';

/** Browsers send cookies to every port of a host, so each site has names of its own. */
const SESSION = { console: 'catalogue_session', kyc_desk: 'catalogue_desk_session' };
/** The cookie that makes a browser known to an operator, so that sign-ins of others do not delay the operator's. */
const BROWSER = { console: 'catalogue_browser', kyc_desk: 'catalogue_desk_browser' };
const BROWSER_S = 365 * 86_400;
const FLOW = { console: 'catalogue_oidc', kyc_desk: 'catalogue_desk_oidc' };

/** The secret of the session. */
export const readSessionCookie = (request: FastifyRequest): string | undefined =>
  readCookie(request, SESSION[request.server.frame.site]);

/** Gives the browser the secret of its session. */
export const setSessionCookie = (reply: FastifyReply, session: string): FastifyReply =>
  setCookie(reply, SESSION[reply.server.frame.site], session, { maxAge: SESSION_HOURS * 3_600 });

const nextOf = ({ next }: { next?: unknown }): string => localPath(typeof next === 'string' ? next : '/');

const FORM_FIELD_MAX = 1_024;
const field = z.string().max(FORM_FIELD_MAX);
const form = z
  .object({
    login: field.default(''),
    password: field.optional(),
    next: field.default('/'),
    link: field.optional(),
  })
  .refine(({ password, link }) => password !== undefined || link !== undefined);

const problemText = (problem: string | undefined): SafeHtml | null =>
  problem === undefined ? null : html`<p id="problem" role="alert">${problem}</p>`;

/** @param login what was typed before; absent if the problem is not of these fields */
const passwordForm = (
  lead: string,
  next: string,
  hasOidc: boolean,
  problem?: string,
  login?: string,
): SafeHtml => {
  const shared = { required: true, ...(login !== undefined && flawOf(problem)) };
  const name = { name: 'login', autocomplete: 'username', autocapitalize: 'none', spellcheck: 'false' };
  const password = { name: 'password', type: 'password', autocomplete: 'current-password' };
  return html`<h1>Sign in</h1><p>${lead}</p>${problemText(problem)}
<form method="post" action="/sign-in">${hiddenFields({ next })}
${input('Login', { ...name, ...shared, value: login ?? '', autofocus: !login })}
${input('Password', { ...password, ...shared, autofocus: Boolean(login) })}
<button class="button primary">Sign in</button></form>${hasOidc ? oidcLink(next) : null}`;
};

const oidcLink = (next: string): SafeHtml => html`<p class="or">or</p>
<a class="button" href="${link('/sign-in/oidc', { next })}">Sign in with your organisation</a>`;

const linkForm = (secret: string, login: string, next: string, problem?: string): SafeHtml => {
  const password = {
    name: 'password',
    type: 'password',
    autocomplete: 'new-password',
    minlength: PASSWORD_MIN,
  };
  return html`<h1>Set your password</h1>
<p>Choose a password of at least ${PASSWORD_MIN} characters: a few words are enough. Then you are signed in.</p>
${problemText(problem)}
<form method="post" action="/sign-in">${hiddenFields({ next, link: secret })}
${input('Login', { name: 'login', autocomplete: 'username', value: login, readonly: true })}
${input('New password', { ...password, required: true, autofocus: true, ...flawOf(problem) })}
<button class="button primary">Set password and sign in</button></form>`;
};

/** Requires a confirmation before a sign-in link that was opened from another origin, because it may be another person's link. */
const enterForm = (secret: string, login: string, next: string): SafeHtml => html`<h1>Sign in as ${login}</h1>
<p>This link signs in once.</p>
<form method="post" action="/sign-in">${hiddenFields({ next, link: secret })}
<button class="button primary" autofocus>Sign in</button></form>`;

const endedLink = html`<h1>This link has ended</h1>
<p>A sign-in link works once, for 15 minutes. Sign in with your password, or ask an administrator for a new link.</p>
<p><a class="button primary" href="/sign-in">Sign in</a></p>`;

/** Adds sign-in by password, by link and, if configured, by OIDC. */
export const addSignIn = (app: FastifyInstance, options: SiteOptions): void => {
  const { sql } = options;
  const hasOidc = options.oidc !== null;
  const { lead, site } = app.frame;
  const warn = createLimitedLog();
  const open = { config: { right: 'public' } } as const;

  const sendForm = (reply: FastifyReply, next: string, problem?: string, login?: string): FastifyReply =>
    sendPlain(reply, 'Sign in', passwordForm(lead, next, hasOidc, problem, login));
  const sendLinkForm = (reply: FastifyReply, ...link: Parameters<typeof linkForm>): FastifyReply =>
    sendPlain(reply, 'Set your password', linkForm(...link));

  /** Gives the browser its new session and leads it on; the session that it had ends. Without one, its link has ended. */
  const enter = async (
    reply: FastifyReply,
    entered: { session: string; browser?: string } | undefined,
    next: string,
  ): Promise<FastifyReply> => {
    if (entered === undefined) return sendPlain(reply.code(410), 'This link has ended', endedLink);
    const former = readSessionCookie(reply.request);
    if (former !== undefined) await signOut(sql, former);
    setSessionCookie(reply, entered.session);
    const { browser } = entered;
    if (browser !== undefined)
      setCookie(reply, BROWSER[site], browser, { maxAge: BROWSER_S, sameSite: 'strict' });
    return reply.redirect(next, 303);
  };

  app.get<{ Querystring: { next?: string; link?: string } }>('/sign-in', open, async (request, reply) => {
    const next = nextOf(request.query);
    const secret = request.query.link;
    if (typeof secret === 'string') {
      const found = await readLink(sql, secret);
      if (found === undefined) return enter(reply, found, next);
      if (found.sets_password) return sendLinkForm(reply, secret, found.login, next);
      if (isLedFromElsewhere(request.headers))
        return sendPlain(reply, 'Sign in', enterForm(secret, found.login, next));
      return enter(reply, await signInByLink(sql, secret, null, { site, address: request.ip }), next);
    }
    if ((await readSession(sql, readSessionCookie(request), site, false)) !== undefined)
      return reply.redirect(next, 303);
    return sendForm(reply, next);
  });

  app.post('/sign-in', open, async (request, reply) => {
    const typed = form.safeParse(request.body);
    if (!typed.success)
      return sendError(reply, 400, 'Not signed in', 'The form needs a login and a password.');
    const { login, password, link: secret } = typed.data;
    const next = localPath(typed.data.next);
    const lost = explainLostSession(request);
    if (lost !== undefined) return sendForm(reply.code(422), next, lost, login);
    if (secret !== undefined) {
      try {
        const visit = { site, address: request.ip };
        return await enter(reply, await signInByLink(sql, secret, password ?? null, visit), next);
      } catch (error) {
        if (!(error instanceof CatalogueError)) throw error;
        return sendLinkForm(reply.code(422), secret, login, next, error.message);
      }
    }
    const visit = { site, address: request.ip, browser: readCookie(request, BROWSER[site]) };
    const result = await signInByPassword(sql, { login, password: password ?? '' }, visit);
    if (result.kind === 'signed_in') return enter(reply, result, next);
    if (result.kind === 'refused')
      return sendForm(reply.code(401), next, 'The login or the password is wrong.', login);
    warn(request.log, 'sign-in', { address: request.ip }, 'too many sign-ins');
    return sendForm(reply, next, refuseForNow(reply, 'sign-ins', result.waitSeconds), login);
  });

  app.post('/sign-out', { config: { right: 'signed_in' } }, async (request, reply) => {
    const session = readSessionCookie(request);
    if (session !== undefined) await signOut(sql, session);
    return clearCookie(reply, SESSION[site]).redirect('/sign-in', 303);
  });

  if (options.oidc === null) return;
  const { oidc: settings } = options;
  let oidc: ReturnType<typeof createOidc> | undefined;
  const getOidc = () => {
    oidc ??= createOidc(sql, settings, site, options.url());
    return oidc;
  };

  /** Sends the form with why the sign-in is refused. @throws an error that the operator cannot fix */
  const refuse = (reply: FastifyReply, next: string, error: unknown): FastifyReply => {
    if (!(error instanceof CatalogueError)) throw error;
    reply.log.warn({ cause: (error.cause as Error | undefined)?.name }, 'sign-in by OIDC refused');
    const isEarly = error instanceof TooManySignInsError;
    return sendForm(
      reply,
      next,
      isEarly ? refuseForNow(reply, 'sign-ins', error.waitSeconds) : error.message,
    );
  };

  app.get<{ Querystring: { next?: string; again?: string } }>(
    '/sign-in/oidc',
    open,
    async (request, reply) => {
      const next = nextOf(request.query);
      // The images of a page elsewhere would use up the sign-ins of the visitor's address.
      if (isLedFromElsewhere(request.headers) && request.headers['sec-fetch-dest'] !== 'document')
        return sendError(reply, 403, 'Refused', FROM_ANOTHER_SITE);
      try {
        const { url, flow } = await getOidc().begin(next, request.ip, request.query.again !== undefined);
        return setCookie(reply, FLOW[site], flow, { maxAge: 600 }).redirect(url, 303);
      } catch (error) {
        return refuse(reply.code(503).header('retry-after', RETRY_S), next, error);
      }
    },
  );

  app.get('/sign-in/oidc/callback', open, async (request, reply) => {
    clearCookie(reply, FLOW[site]);
    const query = request.url.includes('?') ? request.url.slice(request.url.indexOf('?')) : '';
    try {
      const entered = await getOidc().finish(readCookie(request, FLOW[site]), query, request.ip);
      return await enter(reply, entered, entered.next);
    } catch (error) {
      return refuse(reply.code(403), '/', error);
    }
  });
};
