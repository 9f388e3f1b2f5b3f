import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { findPresentedTokens, recordTokenUse } from '#db/queries/tokens.ts';
import { hashAccessToken, isAccessToken } from '#src/api/api-token.ts';
import { inTurn, type Lanes } from '#src/api/in-turn.ts';
import { Refusal } from '#src/api/refusal.ts';

/** Who is calling. */
export type Caller = {
  token_id: string;
  /** Whose games the token reads; null for an operator's, which reads all. */
  application_id: string | null;
};

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose token it is. It may have ended since it was last looked at: `admission` says so. */
    caller: Caller | null;
    /** Resolves when the token was found to hold after the call came in; rejects with a Refusal. Null without a token. */
    admission: Promise<void> | null;
  }
}

const REALM = 'Bearer realm="game-catalogue"';
const BEARER = /^Bearer +(\S+) *$/i;

const refuse = (failure: 'unknownToken' | 'endedToken') =>
  new Refusal(failure, undefined, { headers: { 'www-authenticate': `${REALM}, error="invalid_token"` } });

/**
 * What a call asks for, answered once its token is known to hold; the work itself need not wait for that.
 * @param work given whose games the caller sees: one application's, or with null everybody's
 */
export const answerTo = async <Answer>(
  request: FastifyRequest,
  work: (application_id: string | null) => Promise<Answer>,
): Promise<Answer> => {
  const { caller, admission } = request;
  if (caller === null || admission === null) throw new Error('a route was reached without authentication');
  const [answer] = await Promise.all([work(caller.application_id), admission]);
  return answer;
};

/** Tokens looked up in one statement. */
const TOKENS_MAX = 100;
/** With more calls than this waiting for look-ups the database is behind: work for the next ones waits as well. */
const AHEAD_MAX = 50;
/** Who stops waits so long for the last use of tokens to be written down. */
const SETTLE_MS = 2_000;

/**
 * A hook that admits calls with a bearer token of ours (section 5) and says whose it is in `request.caller`.
 * The token is looked up after every call has come in, so that a revocation counts from the next one on; calls
 * that come together share a lookup. Whose a token is never changes: a call with one that is known goes on while it is
 * looked up, and is answered afterwards. Its last use is written down at most once a minute, beside the call.
 */
export const createAuthenticator = (lanes: Lanes) => {
  const findToken = inTurn(lanes, findPresentedTokens, {
    keyOf: (token_hash: string) => token_hash,
    most: TOKENS_MAX,
  });
  /** By the hash of the token: those that held when last looked at. */
  const callers = new Map<string, Caller>();
  let waiting = 0;
  const recording = new Map<string, Promise<void>>();

  const recordUse = (token_id: string, request: FastifyRequest): void => {
    if (recording.has(token_id)) return;
    const recorded = recordTokenUse(lanes.sql, token_id)
      .catch((error: unknown) =>
        request.log.warn({ err: error, token_id }, 'the use of a token was not recorded'),
      )
      .finally(() => recording.delete(token_id));
    recording.set(token_id, recorded);
  };

  const admit = async (token_hash: string, request: FastifyRequest): Promise<void> => {
    waiting += 1;
    const found = await findToken(token_hash).finally(() => {
      waiting -= 1;
    });
    if (found === undefined || found.ended) {
      callers.delete(token_hash);
      throw refuse(found === undefined ? 'unknownToken' : 'endedToken');
    }
    if (!found.recently_used) recordUse(found.token_id, request);
    request.caller = { token_id: found.token_id, application_id: found.application_id };
    callers.set(token_hash, request.caller);
  };

  return {
    authenticate: async (request: FastifyRequest, _reply: FastifyReply): Promise<void> => {
      const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
      if (token === undefined)
        throw new Refusal('noToken', undefined, { headers: { 'www-authenticate': REALM } });
      const token_hash = hashAccessToken(token).toString('hex');
      request.caller = callers.get(token_hash) ?? null;
      if (request.caller === null && !isAccessToken(token)) throw refuse('unknownToken');
      request.admission = admit(token_hash, request);
      // Whoever answers the call waits for it.
      request.admission.catch(() => {});
      if (request.caller === null || waiting > AHEAD_MAX) await request.admission;
    },
    /** Resolves when no write is under way any more, or the database has had its time. */
    settle: async (): Promise<void> => {
      await Promise.race([Promise.all(recording.values()), sleep(SETTLE_MS, undefined, { ref: false })]);
    },
  };
};
