import { fastifyCookie } from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { sendError, sendPage } from '#src/board/answers.ts';
import { createVerifier, type Login, parseBasic } from '#src/board/credentials.ts';
import { loginPage, logoutPage } from '#src/board/pages.ts';
import { createSessions, SESSION_MS } from '#src/board/sessions.ts';
import { createThrottle } from '#src/board/throttle.ts';

const COOKIE = 'catalogue_board';

const loginForm = z.object({ user: z.string(), password: z.string(), next: z.string().default('/') });

/** @returns the path if it belongs to this board, else `/`: sign-in must not redirect to another site */
const localPath = (path: string): string => {
  const here = 'http://board.invalid';
  if (!URL.canParse(path, here)) return '/';
  const url = new URL(path, here);
  // "/.//elsewhere" resolves to "//elsewhere", which names another host.
  return url.origin === here && !url.pathname.startsWith('//') ? `${url.pathname}${url.search}` : '/';
};

/** Does a browser open a page? Bull Board's script, curl and probes do not accept HTML. */
const isNavigation = (request: FastifyRequest): boolean =>
  request.method === 'GET' && (request.headers.accept ?? '').includes('text/html');

/** In a browser, a Basic challenge would open the browser's own password dialog. */
const isBrowser = (request: FastifyRequest): boolean =>
  (request.headers['user-agent'] ?? '').startsWith('Mozilla/');

/**
 * Adds `/login` and `/logout` to the app.
 * @returns the hook that requires a session cookie or, for curl and probes, HTTP Basic
 */
export const addSignIn = async (app: FastifyInstance, login: Login) => {
  const verify = createVerifier(login);
  const sessions = createSessions();
  const throttle = createThrottle();

  await app.register(fastifyCookie);
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: FastifyRequest, body: string) => Object.fromEntries(new URLSearchParams(body)),
  );

  /** Checks credentials. @returns `waitMs` > 0 if they were not checked, because the address must wait */
  const attempt = (request: FastifyRequest, typed: Login): { ok: boolean; waitMs: number } => {
    const waitMs = throttle.waitMs(request.ip);
    if (waitMs > 0) return { ok: false, waitMs };
    const ok = verify(typed);
    if (ok) throttle.succeeded(request.ip);
    else throttle.failed(request.ip);
    // The user is not logged: it may be a password in the wrong field.
    if (!ok) request.log.warn({ address: request.ip }, 'board sign-in refused');
    return { ok, waitMs: 0 };
  };

  const failAttempt = (reply: FastifyReply, waitMs: number): string => {
    if (waitMs === 0) {
      reply.code(401);
      return 'The user or the password is wrong.';
    }
    const seconds = Math.ceil(waitMs / 1_000);
    reply.code(429).header('retry-after', seconds);
    return `Too many wrong passwords: retry in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`;
  };

  app.get<{ Querystring: { next?: string } }>('/login', async (request, reply) => {
    const next = localPath(String(request.query.next ?? '/'));
    if (sessions.isOpen(request.cookies[COOKIE])) return reply.redirect(next, 303);
    return sendPage(reply, loginPage({ next }));
  });

  app.post('/login', async (request, reply) => {
    const form = loginForm.safeParse(request.body);
    if (!form.success) {
      return sendError(request, reply, {
        status: 400,
        title: 'Not signed in',
        message: 'The form requires user and password.',
      });
    }
    const next = localPath(form.data.next);
    const { ok, waitMs } = attempt(request, form.data);
    if (!ok) return sendPage(reply, loginPage({ next, problem: failAttempt(reply, waitMs) }));

    sessions.close(request.cookies[COOKIE]);
    request.log.info({ address: request.ip }, 'board sign-in');
    return reply
      .setCookie(COOKIE, sessions.open(), {
        path: '/',
        httpOnly: true,
        // Lax, so that a link to a failed job opens from a chat. Changes are limited to this origin (origin.ts).
        sameSite: 'lax',
        // Trusted from any client: it makes only the client's own cookie stricter.
        secure: request.headers['x-forwarded-proto'] === 'https',
        maxAge: SESSION_MS / 1_000,
      })
      .redirect(next, 303);
  });

  app.get('/logout', async (_request, reply) => sendPage(reply, logoutPage()));

  app.post('/logout', async (request, reply) => {
    sessions.close(request.cookies[COOKIE]);
    return reply.clearCookie(COOKIE, { path: '/' }).redirect('/login', 303);
  });

  return async (request: FastifyRequest, reply: FastifyReply) => {
    if (sessions.isOpen(request.cookies[COOKIE])) return;
    const typed = parseBasic(request.headers.authorization);
    const { ok, waitMs } = typed === null ? { ok: false, waitMs: 0 } : attempt(request, typed);
    if (ok) return;
    if (typed === null && isNavigation(request)) {
      return reply.redirect(`/login?next=${encodeURIComponent(request.url)}`, 303);
    }
    if (!isBrowser(request))
      reply.header('www-authenticate', 'Basic realm="Game Catalogue", charset="UTF-8"');
    const message = typed === null ? 'Sign in at /login, or send HTTP Basic.' : failAttempt(reply, waitMs);
    const status = waitMs > 0 ? 429 : 401;
    return sendError(request, reply, { status, title: 'Not signed in', message });
  };
};
