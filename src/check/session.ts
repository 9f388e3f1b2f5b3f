import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Operation } from '#src/contract/words.ts';
import type { EgressPolicy } from '#src/egress/egress.ts';
import { type CallErrorCode, isCallError } from '#src/egress/errors.ts';
import { createHttpPost } from '#src/egress/http-post.ts';
import type { IdentityRule } from '#src/rules/address-identity.ts';
import { MAX_BODY_BYTES } from '#src/rules/budgets.ts';
import type { WebhookTarget } from '#src/webhooks/client.ts';
import { readJson } from '#src/webhooks/read-json.ts';

/** The token of a request: the application's own, a random one, or none. */
export type Credential = 'its token' | 'a wrong token' | 'no token';

/** One call and its result. */
export type Call = {
  operation: Operation;
  body: object;
  credential: Credential;
  calledAt: Date;
  /** From the beginning of the call to the last byte read; look-up and connection of the first call included. */
  latencyMs: number;
  /** HTTP status; undefined without a response. */
  status: number | undefined;
  /** The JSON of the response, or why there is none. */
  response: { json: unknown } | { code: CallErrorCode; message: string };
};

/** The application that is checked. */
export type CheckTarget = WebhookTarget & {
  /** How its addresses are compared. */
  rule: IdentityRule;
  /** The interval of its games' schedule. */
  every_ms: number;
};

/** The calls of one check. A call is made once: the same request returns the same result. */
export type Session = {
  target: CheckTarget;
  call: (operation: Operation, body: object, credential?: Credential) => Promise<Call>;
  /** Makes a call once more, in a later second than the first. */
  repeat: (operation: Operation, body: object) => Promise<Call>;
  /** All calls in the order in which they were made. */
  calls: () => readonly Call[];
  close: () => void;
};

/** Addresses that are signed name the second of their signature. */
const REPEAT_MS = 1_100;

/**
 * Opens a session over the sender, the bounds and the parser of the workers.
 * @param repeatMs how long after the beginning a call may be repeated
 */
export const openSession = (
  target: CheckTarget,
  egress: EgressPolicy,
  signal: AbortSignal,
  repeatMs = REPEAT_MS,
): Session => {
  const http = createHttpPost({ egress });
  const tokens: Record<Credential, string | null> = {
    'its token': target.accessToken,
    'a wrong token': randomBytes(32).toString('base64url'),
    'no token': null,
  };
  const calls = new Map<string, Call>();

  const send = async (operation: Operation, body: object, credential: Credential): Promise<Call> => {
    const url = target[`${operation}_webhook`];
    const maxBytes = MAX_BODY_BYTES[operation];
    const calledAt = new Date();
    const startMs = performance.now();
    let endMs: number | undefined;
    let status: number | undefined;
    let response: Call['response'];
    try {
      const accessToken = tokens[credential];
      const reply = await http.post({ url, accessToken, body: JSON.stringify(body), maxBytes, signal });
      endMs = performance.now();
      status = reply.status;
      response = { json: await readJson(reply, maxBytes) };
    } catch (error) {
      if (!isCallError(error) || error.code === 'aborted') throw error;
      status ??= error.status;
      response = { code: error.code, message: error.message };
    }
    const latencyMs = Math.round((endMs ?? performance.now()) - startMs);
    return { operation, body, credential, calledAt, latencyMs, status, response };
  };

  const callOnce = async (key: string, operation: Operation, body: object, credential: Credential) => {
    const call = calls.get(key) ?? (await send(operation, body, credential));
    calls.set(key, call);
    return call;
  };
  const startedAt = performance.now();

  return {
    target,
    call: (operation, body, credential = 'its token') =>
      callOnce(JSON.stringify([operation, body, credential]), operation, body, credential),
    repeat: async (operation, body) => {
      const lastedMs = performance.now() - startedAt;
      if (lastedMs < repeatMs) await sleep(repeatMs - lastedMs, undefined, { signal });
      return callOnce(JSON.stringify([operation, body, 'again']), operation, body, 'its token');
    },
    calls: () => [...calls.values()],
    close: http.close,
  };
};
