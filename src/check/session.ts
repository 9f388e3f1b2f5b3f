import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { quote } from '#src/check/quote.ts';
import { SkipCase } from '#src/check/skip-case.ts';
import { describeBody, describeRedirect } from '#src/check/unread.ts';
import type { Operation } from '#src/contract/words.ts';
import type { EgressPolicy } from '#src/egress/egress.ts';
import { type CallErrorCode, isCallError } from '#src/egress/errors.ts';
import { createHttpPost } from '#src/egress/http-post.ts';
import type { PostResponse } from '#src/egress/post.ts';
import type { IdentityRule } from '#src/rules/address-identity.ts';
import { MAX_BODY_BYTES } from '#src/rules/budgets.ts';
import type { WebhookTarget } from '#src/webhooks/client.ts';
import { readJson, UNMETERED } from '#src/webhooks/read-json.ts';

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
  /** The JSON of the response, or why there is none; `details` are safe to show. */
  response: { json: unknown } | { code: CallErrorCode; message: string; details: string | undefined };
  /** The `ret_msg` of a response, safe to show. Absent for KYC, because it may quote a value. */
  retMsg: string | undefined;
};

/** The application that is checked. */
export type CheckTarget = WebhookTarget & {
  /** How its addresses are compared. */
  rule: IdentityRule;
  /** The interval of its games' schedule. */
  every_ms: number;
  /** How many details the platform requests at once. */
  concurrency: number;
};

/** The calls of one check. Each call is made once, and the same request then returns the same result. */
export type Session = {
  target: CheckTarget;
  call: (operation: Operation, body: object, credential?: Credential) => Promise<Call>;
  /** Makes a call once more, in a later second than that of its first answer. */
  repeat: (operation: Operation, body: object) => Promise<Call>;
  /** Makes calls at once, each on a connection of its own. */
  callAtOnce: (operation: Operation, bodies: readonly object[]) => Promise<Call[]>;
  /** Would the platform fetch a picture from this address? */
  mayFetch: (url: string) => boolean;
  /** A text of the application, safe to show and cut. */
  quote: (text: string) => string;
  /** The calls in the order in which they were made, without those at once. */
  calls: () => readonly Call[];
  close: () => void;
};

/** Longer than a second, because a signed address names the second of its signature. */
const REPEAT_MS = 1_100;

/** Most MiB of the responses of a check, which keeps them all. An ordinary application needs less than 2. */
const KEPT_MIB = 16;

const QUOTED_MAX = 60;
const RET_MSG_SHOWN = 200;

export type SessionOptions = {
  signal: AbortSignal;
  /** How long after its answer a call is repeated at the earliest. */
  repeatMs?: number | undefined;
  /** The deadline of a call. Default: that of the workers. */
  callTimeoutMs?: number | undefined;
};

/** Opens a session over the sender, the bounds and the parser of the workers. */
export const openSession = (
  target: CheckTarget,
  egress: EgressPolicy,
  { signal, repeatMs = REPEAT_MS, callTimeoutMs }: SessionOptions,
): Session => {
  const http = createHttpPost({ egress, callTimeoutMs });
  const { accessToken: ownToken } = target;
  const tokens: Record<Credential, string | null> = {
    'its token': target.accessToken,
    'a wrong token': randomBytes(32).toString('base64url'),
    'no token': null,
  };
  const calls = new Map<string, Call>();
  let keptBytes = 0;

  const send = async (operation: Operation, body: object, credential: Credential): Promise<Call> => {
    if (keptBytes > KEPT_MIB * 1024 ** 2)
      throw new SkipCase(`the responses so far have more than ${KEPT_MIB} MiB together`);
    const url = target[`${operation}_webhook`];
    const maxBytes = MAX_BODY_BYTES[operation];
    const calledAt = new Date();
    const startMs = performance.now();
    let endMs: number | undefined;
    let status: number | undefined;
    let response: Call['response'];
    let reply: PostResponse | undefined;
    let location: string | undefined;
    let size = 0;
    const charge = (bytes: number): void => {
      size = bytes;
    };
    const onRedirect = (to: string | undefined): void => {
      location = to;
    };
    try {
      const request = { url, accessToken: tokens[credential], body: JSON.stringify(body), maxBytes };
      reply = await http.post({ ...request, onRedirect, signal });
      endMs = performance.now();
      status = reply.status;
      response = { json: await readJson(reply, maxBytes, { ...UNMETERED, charge }) };
      keptBytes += size;
    } catch (error) {
      if (!isCallError(error) || error.code === 'aborted') throw error;
      status ??= error.status;
      const { code, message } = error;
      let details: string | undefined;
      if (code === 'redirect') details = describeRedirect(operation, location, url, ownToken);
      else if (reply !== undefined) details = await describeBody(operation, reply, maxBytes, ownToken, code);
      response = { code, message, details };
    }
    const latencyMs = Math.round((endMs ?? performance.now()) - startMs);
    const text = 'json' in response && (response.json as { ret_msg?: unknown } | null)?.ret_msg;
    const isShown = typeof text === 'string' && operation !== 'query_cp_kyc';
    const retMsg = isShown ? quote(text, ownToken, RET_MSG_SHOWN) : undefined;
    return { operation, body, credential, calledAt, latencyMs, status, response, retMsg };
  };

  const callOnce = async (key: string, operation: Operation, body: object, credential: Credential) => {
    const call = calls.get(key) ?? (await send(operation, body, credential));
    calls.set(key, call);
    return call;
  };
  const call: Session['call'] = (operation, body, credential = 'its token') =>
    callOnce(JSON.stringify([operation, body, credential]), operation, body, credential);

  return {
    target,
    call,
    repeat: async (operation, body) => {
      const first = await call(operation, body);
      const sinceMs = Math.max(0, Date.now() - first.calledAt.getTime() - first.latencyMs);
      if (sinceMs < repeatMs) await sleep(repeatMs - sinceMs, undefined, { signal });
      return callOnce(JSON.stringify([operation, body, 'again']), operation, body, 'its token');
    },
    callAtOnce: (operation, bodies) => Promise.all(bodies.map((body) => send(operation, body, 'its token'))),
    mayFetch: (url) => egress.checkUrl(url).ok,
    quote: (text) => quote(text, ownToken, QUOTED_MAX),
    calls: () => [...calls.values()],
    close: http.close,
  };
};
