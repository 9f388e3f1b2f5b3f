/** `/sign-in` and `/sign-out`. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { SESSION_HOURS } from '#db/queries/sign-in.ts';
import { sendError, sendPlain } from '#src/console/answers.ts';
import { cookieName, isSecure } from '#src/console/cookies.ts';
import { html, link, type SafeHtml } from '#src/console/html.ts';
import type { SiteOptions } from '#src/console/options.ts';
import { CatalogueError } from '#src/errors.ts';
import { createLimitedLog } from '#src/http/limited-log.ts';
import { createOidc } from '#src/identity/oidc.ts';
import { readLink, readSession, signInByLink, signInByPassword, signOut } from '#src/identity/sign-in.ts';

const SESSION = 'catalogue_session';
const FLOW = 'catalogue_oidc';

/** The secret of the session. */
export const readCookie = (request: FastifyRequest, consoleUrl: string): string | undefined =>
  request.cookies[cookieName(request, consoleUrl, SESSION)];

/** Gives the browser the secret of its session. */
export const setSessionCookie = (
  request: FastifyRequest,
  reply: FastifyReply,
  consoleUrl: string,
  session: string,
): FastifyReply =>
  reply.setCookie(cookieName(request, consoleUrl, SESSION), session, {
    path: '/',
    httpOnly: true,
    // Lax, so that a link to a game opens from a chat. Changes are limited to this origin (origin.ts).
    sameSite: 'lax',
    secure: isSecure(request, consoleUrl),
    maxAge: SESSION_HOURS * 3_600,
  });

const FORM_FIELD_MAX = 1_024;
const field = z.string().max(FORM_FIELD_MAX);
const form = z.object({
  login: field.default(''),
  password: field,
  next: field.default('/'),
  link: field.optional(),
});

/**
 * @returns the path if it belongs to this console and has at most `FORM_FIELD_MAX` characters, else `/`: sign-in must
 * not redirect to another site
 */
const localPath = (path: string): string => {
  if (path.length > FORM_FIELD_MAX) return '/';
  const here = 'http://console.invalid';
  if (!URL.canParse(path, here)) return '/';
  const url = new URL(path, here);
  // "/.//elsewhere" resolves to "//elsewhere", which names another host.
  return url.origin === here && !url.pathname.startsWith('//') ? `${url.pathname}${url.search}` : '/';
};

const problemText = (problem: string | undefined): SafeHtml | null =>
  problem === undefined ? null : html`<p id="problem" role="alert">${problem}</p>`;

/** @param login what was typed before */
const passwordForm = (
  lead: string,
  next: string,
  hasOidc: boolean,
  problem?: string,
  login = '',
): SafeHtml => {
  const flaw = problem === undefined ? null : html` aria-invalid="true" aria-describedby="problem"`;
  const focus = html` autofocus`;
  return html`<h1>Sign in</h1><p>${lead}</p>${problemText(problem)}
<form method="post" action="/sign-in"><input type="hidden" name="next" value="${next}">
<label class="field"><span>Login</span><input name="login" autocomplete="username" autocapitalize="none" spellcheck="false" required value="${login}"${flaw}${login === '' ? focus : null}></label>
<label class="field"><span>Password</span><input name="password" type="password" autocomplete="current-password" required${flaw}${login === '' ? null : focus}></label>
<button class="button primary">Sign in</button></form>
${hasOidc ? html`<p class="or">or</p><a class="button" href="${link('/sign-in/oidc', { next })}">Sign in with your organisation</a>` : null}`;
};

const linkForm = (secret: string, login: string, next: string, problem?: string): SafeHtml => {
  const flaw = problem === undefined ? null : html` aria-invalid="true"`;
  return html`<h1>Set your password</h1><p>Choose a password of at least 15 characters: a few words are enough. Then you are signed in.</p>${problemText(problem)}
<form method="post" action="/sign-in"><input type="hidden" name="next" value="${next}"><input type="hidden" name="link" value="${secret}">
<label class="field"><span>Login</span><input name="login" autocomplete="username" value="${login}" readonly></label>
<label class="field"><span>New password</span><input name="password" type="password" autocomplete="new-password" minlength="15" required autofocus aria-describedby="problem"${flaw}></label>
<button class="button primary">Set password and sign in</button></form>`;
};

const endedLink = html`<h1>This link has ended</h1><p>A sign-in link works once, for 15 minutes. Sign in with your password, or ask an administrator for a new link.</p><p><a href="/sign-in">Sign in</a></p>`;

/** Adds sign-in by password, by link and, if configured, by OIDC. */
export const addSignIn = (app: FastifyInstance, options: SiteOptions): void => {
  const { sql } = options;
  const hasOidc = options.oidc !== null;
  const { lead } = app.frame;
  const warn = createLimitedLog();
  const open = { config: { right: 'public' } } as const;

  /** Gives the browser its new session and leads it on; the session that it had ends. */
  const enter = async (
    request: FastifyRequest,
    reply: FastifyReply,
    session: string,
    next: string,
  ): Promise<FastifyReply> => {
    const url = options.url();
    const former = readCookie(request, url);
    if (former !== undefined) await signOut(sql, former);
    setSessionCookie(request, reply, url, session);
    return reply.redirect(next, 303);
  };

  app.get<{ Querystring: { next?: string; link?: string } }>('/sign-in', open, async (request, reply) => {
    const next = localPath(String(request.query.next ?? '/'));
    const secret = request.query.link;
    if (typeof secret === 'string') {
      const found = await readLink(sql, secret);
      if (found === undefined) return sendPlain(reply.code(410), 'This link has ended', endedLink);
      if (found.sets_password)
        return sendPlain(reply, 'Set your password', linkForm(secret, found.login, next));
      const entered = await signInByLink(sql, secret, null, request.ip);
      if (entered === undefined) return sendPlain(reply.code(410), 'This link has ended', endedLink);
      return await enter(request, reply, entered.session, next);
    }
    if ((await readSession(sql, readCookie(request, options.url()), false)) !== undefined)
      return reply.redirect(next, 303);
    return sendPlain(reply, 'Sign in', passwordForm(lead, next, hasOidc));
  });

  app.post('/sign-in', open, async (request, reply) => {
    const typed = form.safeParse(request.body);
    if (!typed.success) {
      const message = 'The form needs a login and a password.';
      return sendError(request, reply, { status: 400, title: 'Not signed in', message });
    }
    const { login, password, link: secret } = typed.data;
    const next = localPath(typed.data.next);
    if (secret !== undefined) {
      try {
        const entered = await signInByLink(sql, secret, password, request.ip);
        if (entered === undefined) return sendPlain(reply.code(410), 'This link has ended', endedLink);
        return await enter(request, reply, entered.session, next);
      } catch (error) {
        if (!(error instanceof CatalogueError)) throw error;
        return sendPlain(reply.code(422), 'Set your password', linkForm(secret, login, next, error.message));
      }
    }
    const result = await signInByPassword(sql, { login, password }, request.ip);
    if (result.kind === 'signed_in') return await enter(request, reply, result.session, next);
    if (result.kind === 'refused') {
      const problem = 'The login or the password is wrong.';
      return sendPlain(reply.code(401), 'Sign in', passwordForm(lead, next, hasOidc, problem, login));
    }
    const { waitSeconds } = result;
    warn(request.log, 'sign-in', { address: request.ip }, 'too many sign-ins');
    reply.code(429).header('retry-after', waitSeconds);
    const problem = `Too many sign-ins: retry in ${Math.ceil(waitSeconds / 60)} min.`;
    return sendPlain(reply, 'Sign in', passwordForm(lead, next, hasOidc, problem, login));
  });

  app.post('/sign-out', { config: { right: 'signed_in' } }, async (request, reply) => {
    const url = options.url();
    const session = readCookie(request, url);
    if (session !== undefined) await signOut(sql, session);
    const secure = isSecure(request, url);
    return reply
      .clearCookie(cookieName(request, url, SESSION), { path: '/', secure })
      .redirect('/sign-in', 303);
  });

  if (options.oidc === null) return;
  const { oidc: settings } = options;
  let oidc: ReturnType<typeof createOidc> | undefined;
  const getOidc = () => {
    oidc ??= createOidc(sql, settings, options.url());
    return oidc;
  };

  /** @returns the message of the page @throws an error that the operator cannot fix */
  const refuse = (request: FastifyRequest, error: unknown): string => {
    if (!(error instanceof CatalogueError)) throw error;
    request.log.warn({ cause: (error.cause as Error | undefined)?.name }, 'sign-in by OIDC refused');
    return error.message;
  };

  app.get<{ Querystring: { next?: string; again?: string } }>(
    '/sign-in/oidc',
    open,
    async (request, reply) => {
      const next = localPath(String(request.query.next ?? '/'));
      const begun = await getOidc()
        .begin(next, request.ip, request.query.again !== undefined)
        .catch((error: unknown) => refuse(request, error));
      if (typeof begun === 'string')
        return sendPlain(reply.code(503), 'Sign in', passwordForm(lead, next, hasOidc, begun));
      const { url, flow } = begun;
      const secure = isSecure(request, options.url());
      return reply
        .setCookie(cookieName(request, options.url(), FLOW), flow, {
          path: '/',
          httpOnly: true,
          sameSite: 'lax',
          secure,
          maxAge: 600,
        })
        .redirect(url, 303);
    },
  );

  app.get('/sign-in/oidc/callback', open, async (request, reply) => {
    const name = cookieName(request, options.url(), FLOW);
    reply.clearCookie(name, { path: '/', secure: isSecure(request, options.url()) });
    const query = request.url.includes('?') ? request.url.slice(request.url.indexOf('?')) : '';
    try {
      const { session, next } = await getOidc().finish(request.cookies[name], query, request.ip);
      return await enter(request, reply, session, next);
    } catch (error) {
      return sendPlain(reply.code(403), 'Sign in', passwordForm(lead, '/', hasOidc, refuse(request, error)));
    }
  });
};
