import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorPage, PAGE_POLICY } from '#src/board/pages.ts';

/** Headers of every answer. `sendPage` replaces the content security policy with a stricter one. */
export const SECURITY_HEADERS = {
  // Bull Board sets style attributes, so inline styles are allowed; inline scripts are not.
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

/** Sends one of the board's own pages. */
export const sendPage = (reply: FastifyReply, html: string): FastifyReply =>
  reply.header('content-security-policy', PAGE_POLICY).type('text/html; charset=utf-8').send(html);

/** Does the client expect JSON? Under `/api` it does; every other address is a page. */
export const isApi = (request: FastifyRequest): boolean => request.url.startsWith('/api/');

export type ErrorAnswer = { status: number; title: string; message: string };

/** Sends an error: under `/api` the JSON that Bull Board's script shows, else a page. */
export const sendError = (request: FastifyRequest, reply: FastifyReply, error: ErrorAnswer): FastifyReply => {
  reply.code(error.status);
  return isApi(request)
    ? reply.send({ error: error.message })
    : sendPage(reply, errorPage(error.title, error.message));
};
