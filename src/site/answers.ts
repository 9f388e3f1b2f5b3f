import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SignedIn } from '#db/queries/sign-in.ts';
import type { Right } from '#src/contract/roles.ts';
import { CatalogueError } from '#src/errors.ts';
import { ForbiddenError } from '#src/operations/operation.ts';
import { clearCookie, readCookie, setCookie } from '#src/site/cookies.ts';
import { html, type SafeHtml } from '#src/site/html.ts';
import { type Notice, type Page, plainPage, type SiteFrame, signedInPage } from '#src/site/layout.ts';
import { changesState, pathOfForm } from '#src/site/origin.ts';

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

/** HSTS for one year, with subdomains, of which none may serve http. */
export const HTTPS_ONLY = { 'strict-transport-security': 'max-age=31536000; includeSubDomains' } as const;

export const HTML = 'text/html; charset=utf-8';

/** The operator of a request that passed the check of its right. */
export const operatorOf = (request: FastifyRequest): SignedIn => {
  if (request.operator === null) throw new Error('this route is public: it has no operator');
  return request.operator;
};

const NOTICE = 'catalogue_notice';
const NOTICE_MAX = 600;
/** Percent-encoded, as a cookie has it. Bounded, because browsers drop a cookie of more than 4,096 bytes. */
const NOTICE_MAX_BYTES = 3_600;
const TONES = ['good', 'info', 'bad', 'undo'] as const satisfies Notice['tone'][];

/** Does a page request the one that comes next, which is not on the screen yet (browser/next-game.ts)? */
export const isPrefetch = ({ headers }: FastifyRequest): boolean => headers['x-prefetch'] !== undefined;

/** Does a page that shows the next one already send a form? */
export const isInBackground = ({ headers }: FastifyRequest): boolean => headers.accept === 'application/json';

const cutNotice = (text: string): string => {
  let bytes = 0;
  const fits = (character: string): boolean => {
    bytes += encodeURIComponent(character).length;
    return bytes <= NOTICE_MAX_BYTES;
  };
  return Array.from(text.slice(0, NOTICE_MAX).toWellFormed()).filter(fits).join('');
};

/** Redirects to a page that then shows what happened. A page that shows the next one already gets it as JSON. */
export const redirectWith = (
  reply: FastifyReply,
  url: string,
  text: string,
  tone: Notice['tone'] = 'good',
): FastifyReply => {
  if (isInBackground(reply.request) && tone !== 'bad') return reply.send({ url, text, tone });
  setCookie(reply, NOTICE, `${tone} ${cutNotice(text)}`, { sameSite: 'strict', maxAge: 60 });
  return isInBackground(reply.request) ? reply.send({ url, text, tone }) : reply.redirect(url, 303);
};

/** Answers by `work`. A CatalogueError becomes a notice on the page at `url`; a ForbiddenError is a page of its own. */
export const redirectOnRefusal = async (
  reply: FastifyReply,
  url: string,
  work: () => Promise<FastifyReply>,
): Promise<FastifyReply> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CatalogueError) || error instanceof ForbiddenError) throw error;
    return redirectWith(reply, url, error.message, 'bad');
  }
};

/** Goes to the page at `url`, with what was done or why it was not. */
export const redirectAfter = (reply: FastifyReply, url: string, work: () => Promise<string>) =>
  redirectOnRefusal(reply, url, async () => redirectWith(reply, url, await work()));

/** Returns the notice of the last request, once. */
export const takeNotice = (reply: FastifyReply): Page['notice'] => {
  const value = readCookie(reply.request, NOTICE);
  if (value === undefined) return undefined;
  clearCookie(reply, NOTICE);
  const [tone, ...words] = value.split(' ');
  return { tone: TONES.find((each) => each === tone) ?? 'good', text: words.join(' ') };
};

/** Sends a page for the signed-in operator. */
export const sendPage = (reply: FastifyReply, page: Page): FastifyReply => {
  const content = isPrefetch(reply.request) ? page : { ...page, notice: takeNotice(reply) };
  return reply.type(HTML).send(String(signedInPage(operatorOf(reply.request), content, reply.server.frame)));
};

/** Sends a page that needs no sign-in. */
export const sendPlain = (reply: FastifyReply, title: string, body: SafeHtml): FastifyReply => {
  // Bull Board is a server of its own, without a frame.
  const frame = reply.server.frame as SiteFrame | undefined;
  return reply.type(HTML).send(String(plainPage(title, body, frame?.warning ?? null)));
};

/** Says that there were too many, and how long to wait. */
export const tooMany = (attempts: string, waitSeconds: number): string =>
  `Too many ${attempts}: retry in ${Math.ceil(waitSeconds / 60)} min.`;

/** Sets the status of a request that exceeds a limit of attempts. @returns what its page says */
export const refuseForNow = (reply: FastifyReply, attempts: string, waitSeconds: number): string => {
  reply.code(429).header('retry-after', waitSeconds);
  return tooMany(attempts, waitSeconds);
};

/** Seconds after which a browser repeats a request that could not be answered. */
export const RETRY_S = 10;

/** The way on from an error: to the address itself, or to the form, because the answer to a form is no page. */
const wayOnOf = ({ method, headers, host }: FastifyRequest, status: number): SafeHtml | null => {
  if (changesState(method)) {
    const path = status === 401 ? undefined : pathOfForm(headers, host);
    return path === undefined
      ? null
      : html`<p><a class="button primary" href="${path}">Back to the form</a></p>`;
  }
  return status >= 500 ? html`<p><a class="button primary" href="">Retry</a></p>` : null;
};

/** Sends an error as a page, or to Bull Board's script as JSON. */
export const sendError = (
  reply: FastifyReply,
  status: number,
  title: string,
  message: string,
): FastifyReply => {
  const { url, operator } = reply.request;
  reply.code(status);
  if (status === 503) reply.header('retry-after', RETRY_S);
  if (url.startsWith('/queues/api/')) return reply.send({ error: message });
  const wayOn = wayOnOf(reply.request, status);
  const isPortal = url.startsWith('/portal');
  const frame = reply.server.frame as SiteFrame | undefined;
  // The page of an error has links only in its navigation and its way on. A request whose address is no path has no
  // operator.
  if (operator && frame !== undefined && !isPortal) {
    const body = wayOn ?? (status === 404 ? frame.wayOn : null) ?? html``;
    const page = { title, at: '', lead: message, body };
    return reply.type(HTML).send(String(signedInPage(operator, page, frame)));
  }
  const signIn = status === 401 ? html`<p><a class="button" href="/sign-in">Sign in</a></p>` : null;
  const home = html`<p><a class="button" href="${isPortal ? '/portal' : '/'}">Back to the overview</a></p>`;
  const back = operator !== null || status === 404 ? home : signIn;
  return sendPlain(reply, title, html`<h1>${title}</h1><p>${message}</p>${wayOn}${back}`);
};
