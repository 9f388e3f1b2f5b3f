/** The cookies of a site. Over https each is `Secure` and belongs to its host alone (`__Host-`). */
import type { FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    /** The public address of the site. */
    siteUrl: () => string;
  }
}

/** Does the browser reach the site over https? */
export const isSecure = ({ server, protocol }: FastifyRequest): boolean =>
  server.siteUrl().startsWith('https:') || protocol === 'https';

/** Hosts whose `Secure` cookies a browser keeps without https. */
const THIS_MACHINE = /^http:\/\/(localhost|127\.[\d.]+|\[::1\])(:|$)/;

/**
 * Explains why the browser that sent this form would keep no session, because its page was opened by plain http, and the
 * public address of the site is https. @returns undefined if it keeps one
 */
export const explainLostSession = ({
  server,
  headers: { origin = '' },
}: FastifyRequest): string | undefined =>
  server.siteUrl().startsWith('https:') && origin.startsWith('http:') && !THIS_MACHINE.test(origin)
    ? `Your browser opened this page by http, and keeps a session by https only: open ${server.siteUrl()}.`
    : undefined;

const fullName = (request: FastifyRequest, name: string): string =>
  `${isSecure(request) ? '__Host-' : ''}${name}`;

/** @param name without the prefix, as in the functions below */
export const readCookie = (request: FastifyRequest, name: string): string | undefined =>
  request.cookies[fullName(request, name)];

/**
 * Sets a cookie that scripts cannot read. Lax, so that a link to a game opens from a chat; changes are limited to this
 * origin (origin.ts).
 */
export const setCookie = (
  reply: FastifyReply,
  name: string,
  value: string,
  { maxAge, sameSite = 'lax' }: { maxAge: number; sameSite?: 'lax' | 'strict' },
): FastifyReply =>
  reply.setCookie(fullName(reply.request, name), value, {
    path: '/',
    httpOnly: true,
    sameSite,
    secure: isSecure(reply.request),
    maxAge,
  });

export const clearCookie = (reply: FastifyReply, name: string): FastifyReply =>
  reply.clearCookie(fullName(reply.request, name), { path: '/', secure: isSecure(reply.request) });
