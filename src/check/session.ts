import { randomBytes } from 'node:crypto';
import type { Operation } from '#src/contract/words.ts';
import { MAX_BODY_BYTES } from '#src/webhooks/bounds.ts';
import type { WebhookTarget } from '#src/webhooks/client.ts';
import type { EgressPolicy } from '#src/webhooks/egress.ts';
import { isWebhookError, type WebhookErrorCode } from '#src/webhooks/errors.ts';
import { createExchange } from '#src/webhooks/exchange.ts';
import { decode } from '#src/webhooks/read-body.ts';
import { readJson } from '#src/webhooks/read-json.ts';

/** The token that a call bears: the application's, one that is made up, or none at all. */
export type Credential = 'token' | 'wrong token' | 'no token';

/** One call and what came of it. */
export type Call = {
  operation: Operation;
  body: object;
  credential: Credential;
  /** From the first byte sent to the last byte read. */
  latencyMs: number;
  /** HTTP status; undefined when no answer came. */
  status: number | undefined;
  /** The JSON that came, or why none did. */
  answer: { json: unknown } | { code: WebhookErrorCode; message: string };
};

/** The calls of one check. Asking the same twice calls once. */
export type Session = {
  ask: (operation: Operation, body: object, credential?: Credential) => Promise<Call>;
  /** Every call that was made, in order. */
  calls: () => readonly Call[];
  close: () => void;
};

const ADDRESS = {
  query_game_list: 'queryGameListWebhook',
  query_game_detail: 'queryGameDetailWebhook',
  query_cp_kyc: 'queryCpKycWebhook',
} as const satisfies Record<Operation, keyof WebhookTarget>;

/** Open a check's session: the same door out, bounds and reading as the workers', one call after another. */
export const openSession = (target: WebhookTarget, egress: EgressPolicy, signal: AbortSignal): Session => {
  const exchange = createExchange({ egress });
  const tokens: Record<Credential, string | null> = {
    token: target.accessToken,
    'wrong token': randomBytes(32).toString('base64url'),
    'no token': null,
  };
  const asked = new Map<string, Call>();

  const call = async (operation: Operation, body: object, credential: Credential): Promise<Call> => {
    const started = performance.now();
    let status: number | undefined;
    let answer: Call['answer'];
    let endedAt: number | undefined;
    try {
      const maxBytes = MAX_BODY_BYTES[operation];
      const url = target[ADDRESS[operation]];
      const accessToken = tokens[credential];
      const came = await exchange.post({ url, accessToken, body: JSON.stringify(body), maxBytes, signal });
      endedAt = performance.now();
      status = came.status;
      answer = { json: readJson(await decode(came.bytes, came.contentEncoding, maxBytes)) };
    } catch (error) {
      if (!isWebhookError(error) || error.code === 'aborted') throw error;
      status ??= error.status;
      answer = { code: error.code, message: error.message };
    }
    const latencyMs = Math.round((endedAt ?? performance.now()) - started);
    return { operation, body, credential, latencyMs, status, answer };
  };

  return {
    ask: async (operation, body, credential = 'token') => {
      const key = JSON.stringify([operation, body, credential]);
      const known = asked.get(key) ?? (await call(operation, body, credential));
      asked.set(key, known);
      return known;
    },
    calls: () => [...asked.values()],
    close: exchange.close,
  };
};
