import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { ApiError } from '#src/api/api-error.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Longest time of a call of this route, in milliseconds. Default: that of the server. */
    deadlineMs?: number;
  }
}

/**
 * Creates a hook that sends a failure if a call has no response after `timeoutMs`: 408 if its body is incomplete, else 503.
 * Fastify's `handlerTimeout` does not fit, because it stops as soon as the body is read.
 */
export const createDeadline =
  (
    timeoutMs: number,
    sendFailure: (error: ApiError, request: FastifyRequest, reply: FastifyReply) => unknown,
  ): onRequestHookHandler =>
  (request, reply, done) => {
    const deadlineMs = request.routeOptions.config.deadlineMs ?? timeoutMs;
    const timer = setTimeout(() => {
      // `sent` is false while a stream is sent.
      if (reply.sent || reply.raw.headersSent) return;
      const error = request.raw.complete
        ? new ApiError('unavailable', undefined, { cause: new Error(`no response within ${deadlineMs} ms`) })
        : new ApiError('requestTimeout', undefined, { headers: { connection: 'close' } });
      sendFailure(error, request, reply);
    }, deadlineMs);
    reply.raw.once('close', () => clearTimeout(timer));
    done();
  };
