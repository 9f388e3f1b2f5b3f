import { channel } from 'node:diagnostics_channel';
import type { FastifyRequest } from 'fastify';
import { createLimitedLog } from '#src/http/limited-log.ts';

/** Why a call was refused before its token's owner was known. The labels of a metric: bounded. */
export const REFUSALS = ['noToken', 'unknownToken', 'endedToken'] as const;
export type Refusal = (typeof REFUSALS)[number];

const CHANNEL = channel('catalogue.api-refusal');

/** Calls `listener` for every refused token. @returns a function that removes it */
export const onRefusal = (listener: (refusal: Refusal) => void): (() => void) => {
  const onMessage = (refusal: unknown): void => listener(refusal as Refusal);
  CHANNEL.subscribe(onMessage);
  return () => void CHANNEL.unsubscribe(onMessage);
};

/**
 * Logs refused tokens, at most one line a second and reason. The token itself is never logged; `token_id` is that of an
 * ended one.
 */
export const createRefusalLog = () => {
  const warn = createLimitedLog();
  return (request: FastifyRequest, refusal: Refusal, token_id?: string): void => {
    CHANNEL.publish(refusal);
    warn(request.log, refusal, { refusal, token_id, address: request.ip }, 'token refused');
  };
};
