import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SignedIn } from '#db/queries/sign-in.ts';
import { cookieName, isSecure } from '#src/console/cookies.ts';
import { html, type SafeHtml } from '#src/console/html.ts';
import { type Page, plainPage, type SiteFrame, signedInPage } from '#src/console/layout.ts';
import type { Right } from '#src/contract/roles.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call this route. The app does not start if a route has none. */
    right?: Right | 'public' | 'signed_in' | 'application';
  }
  interface FastifyInstance {
    frame: SiteFrame;
  }
  interface FastifyRequest {
    /** Null on public routes. */
    operator: SignedIn | null;
  }
}

/** Pages load only what the console serves: no inline script, no inline style, nothing from elsewhere. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** Headers of every answer. */
export const SECURITY_HEADERS = {
  'content-security-policy': PAGE_POLICY,
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

/** Over https: a year of https alone. The host of a site, and hosts below it, serve nothing over http. */
export const HTTPS_ONLY = { 'strict-transport-security': 'max-age=31536000; includeSubDomains' } as const;

export const HTML = 'text/html; charset=utf-8';

/** The operator of a request that passed the check of its right. */
export const operatorOf = (request: FastifyRequest): SignedIn => {
  if (request.operator === null) throw new Error('this route is public: it has no operator');
  return request.operator;
};

const NOTICE_COOKIE = 'catalogue_notice';
const NOTICE_MAX = 600;

/** Redirects to a page that then shows what happened. */
export const redirectWith = (
  reply: FastifyReply,
  url: string,
  text: string,
  tone: 'good' | 'bad' = 'good',
): FastifyReply => {
  const value = `${tone} ${text.toWellFormed().slice(0, NOTICE_MAX).toWellFormed()}`;
  const { request } = reply;
  const siteUrl = request.server.siteUrl();
  return reply
    .setCookie(cookieName(request, siteUrl, NOTICE_COOKIE), value, {
      path: '/',
      httpOnly: true,
      sameSite: 'strict',
      secure: isSecure(request, siteUrl),
      maxAge: 60,
    })
    .redirect(url, 303);
};

/** What happened at the last request, once. */
export const takeNotice = (request: FastifyRequest, reply: FastifyReply): Page['notice'] => {
  const siteUrl = request.server.siteUrl();
  const name = cookieName(request, siteUrl, NOTICE_COOKIE);
  const value = request.cookies[name];
  if (value === undefined) return undefined;
  reply.clearCookie(name, { path: '/', secure: isSecure(request, siteUrl) });
  const [tone, ...words] = value.split(' ');
  return { tone: tone === 'bad' ? 'bad' : 'good', text: words.join(' ') };
};

/** Sends a page for the signed-in operator. */
export const sendPage = (request: FastifyRequest, reply: FastifyReply, page: Page): FastifyReply => {
  const notice = page.notice ?? takeNotice(request, reply);
  return reply
    .type(HTML)
    .send(String(signedInPage(operatorOf(request), { ...page, notice }, request.server.frame)));
};

/** Sends a page that needs no sign-in. */
export const sendPlain = (reply: FastifyReply, title: string, body: SafeHtml): FastifyReply => {
  // Bull Board is a server of its own, without a frame.
  const frame = reply.server.frame as SiteFrame | undefined;
  return reply.type(HTML).send(String(plainPage(title, body, frame?.warning ?? null)));
};

export type ErrorAnswer = { status: number; title: string; message: string };

/** Bull Board's script reads JSON. */
const isQueueApi = (request: FastifyRequest): boolean => request.url.startsWith('/queues/api/');

/** Sends an error as a page, or to Bull Board's script as JSON. */
export const sendError = (
  request: FastifyRequest,
  reply: FastifyReply,
  { status, title, message }: ErrorAnswer,
): FastifyReply => {
  reply.code(status);
  if (isQueueApi(request)) return reply.send({ error: message });
  const home = request.url.startsWith('/portal') ? '/portal' : '/';
  const isLost = request.operator !== null || status === 404;
  const back = isLost ? html`<p><a class="button" href="${home}">Back to the overview</a></p>` : null;
  return sendPlain(reply, title, html`<h1>${title}</h1><p>${message}</p>${back}`);
};
