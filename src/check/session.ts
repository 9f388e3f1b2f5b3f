import { randomBytes } from 'node:crypto';
import type { Operation } from '#src/contract/words.ts';
import type { EgressPolicy } from '#src/egress/egress.ts';
import { type CallErrorCode, isCallError } from '#src/egress/errors.ts';
import { createHttpPost } from '#src/egress/http-post.ts';
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
  /** From the beginning of the call to the last byte read; look-up and connection of the first call included. */
  latencyMs: number;
  /** HTTP status; undefined without a response. */
  status: number | undefined;
  /** The JSON of the response, or why there is none. */
  response: { json: unknown } | { code: CallErrorCode; message: string };
};

/** The calls of one check. A call is made once: the same request returns the same result. */
export type Session = {
  call: (operation: Operation, body: object, credential?: Credential) => Promise<Call>;
  /** All calls in the order in which they were made. */
  calls: () => readonly Call[];
  close: () => void;
};

/** Opens a session over the sender, the bounds and the parser of the workers. */
export const openSession = (target: WebhookTarget, egress: EgressPolicy, signal: AbortSignal): Session => {
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
    return { operation, body, credential, latencyMs, status, response };
  };

  return {
    call: async (operation, body, credential = 'its token') => {
      const key = JSON.stringify([operation, body, credential]);
      const call = calls.get(key) ?? (await send(operation, body, credential));
      calls.set(key, call);
      return call;
    },
    calls: () => [...calls.values()],
    close: http.close,
  };
};
