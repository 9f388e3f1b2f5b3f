import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorPage, PAGE_POLICY } from '#src/board/pages.ts';

/** On every answer. Own pages replace the policy by their stricter one (`sendPage`). */
export const SECURITY_HEADERS = {
  // Bull Board sets style attributes, so styles may be inline; scripts may not. Nothing comes from elsewhere.
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

/** Answers with a page of our own. */
export const sendPage = (reply: FastifyReply, html: string): FastifyReply =>
  reply.header('content-security-policy', PAGE_POLICY).type('text/html; charset=utf-8').send(html);

/** Is this for Bull Board's script (or curl in its place), which reads JSON? Everything else is a page. */
export const isApi = (request: FastifyRequest): boolean => request.url.startsWith('/api/');

export type Refusal = { status: number; title: string; message: string };

/** Refuses a request: a page for a person, JSON in the shape that Bull Board's script shows under `/api`. */
export const refuse = (request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply => {
  reply.code(refusal.status);
  return isApi(request)
    ? reply.send({ error: refusal.message })
    : sendPage(reply, errorPage(refusal.title, refusal.message));
};
