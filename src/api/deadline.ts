import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { ApiError } from '#src/api/api-error.ts';

/**
 * A hook that answers a call for which nobody else has by then: a body that does not arrive is given up, a
 * database that hangs is one that is away. Not Fastify's `handlerTimeout`: that one ends its watch when the
 * request closes, which is as soon as its body has been read.
 */
export const createDeadline =
  (
    timeoutMs: number,
    answer: (refusal: ApiError, request: FastifyRequest, reply: FastifyReply) => unknown,
  ): onRequestHookHandler =>
  (request, reply, done) => {
    const timer = setTimeout(() => {
      if (reply.sent) return;
      const refusal = request.raw.complete
        ? new ApiError('unavailable', undefined, { cause: new Error(`no answer within ${timeoutMs} ms`) })
        : new ApiError('requestTimeout', undefined, { headers: { connection: 'close' } });
      answer(refusal, request, reply);
    }, timeoutMs);
    reply.raw.once('close', () => clearTimeout(timer));
    done();
  };
