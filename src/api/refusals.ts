import type { FastifyRequest } from 'fastify';
import { createLimitedLog } from '#src/http/limited-log.ts';
import { defineChannel } from '#src/lib/channel.ts';

/** Reasons to refuse a call before its token's owner is known. They are the labels of a metric. */
export const REFUSALS = ['noToken', 'unknownToken', 'endedToken'] as const;
export type Refusal = (typeof REFUSALS)[number];

/** Publishes each refused token: metrics subscribe. */
export const tokenRefused = defineChannel<Refusal>('catalogue.token-refused');

/** Logs refused tokens, at most one line a second for each reason. The token itself is never logged; `token_id` is that of an ended one. */
export const createRefusalLog = () => {
  const warn = createLimitedLog();
  return (request: FastifyRequest, refusal: Refusal, token_id?: string): void => {
    tokenRefused.publish(refusal);
    warn(request.log, refusal, { refusal, token_id, address: request.ip }, 'token refused');
  };
};
