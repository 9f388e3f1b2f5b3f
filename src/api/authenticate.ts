import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '#db/client.ts';
import { findPresentedToken, recordTokenUse } from '#db/queries/tokens.ts';
import { hashAccessToken, isAccessToken } from './access-token.ts';
import { inTurn } from './in-turn.ts';
import { Refusal } from './refusal.ts';

/** Who is calling. */
export type Caller = {
  token_id: string;
  /** Whose games the token reads; null for an operator's, which reads all. */
  application_id: string | null;
};

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
  }
}

const REALM = 'Bearer realm="game-catalogue"';
const BEARER = /^Bearer +(\S+) *$/i;

const refuse = (failure: 'unknownToken' | 'endedToken') =>
  new Refusal(failure, undefined, { headers: { 'www-authenticate': `${REALM}, error="invalid_token"` } });

/**
 * A hook that admits calls with a bearer token of ours (section 5) and says whose it is in `request.caller`.
 * The token is looked up after every call has come in, so that a revocation counts from the next one on; calls
 * that come together share a lookup. Its last use is written down at most once a minute, beside the call.
 */
export const createAuthenticator = (sql: Database) => {
  const findToken = inTurn((token: string) => findPresentedToken(sql, hashAccessToken(token)));
  const recording = new Map<string, Promise<void>>();

  const recordUse = (token_id: string, request: FastifyRequest): void => {
    if (recording.has(token_id)) return;
    const recorded = recordTokenUse(sql, token_id)
      .catch((error: unknown) =>
        request.log.warn({ err: error, token_id }, 'the use of a token was not recorded'),
      )
      .finally(() => recording.delete(token_id));
    recording.set(token_id, recorded);
  };

  return {
    authenticate: async (request: FastifyRequest, _reply: FastifyReply): Promise<void> => {
      const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
      if (token === undefined)
        throw new Refusal('noToken', undefined, { headers: { 'www-authenticate': REALM } });
      if (!isAccessToken(token)) throw refuse('unknownToken');
      const found = await findToken(token);
      if (found === undefined) throw refuse('unknownToken');
      if (found.ended) throw refuse('endedToken');
      if (!found.recently_used) recordUse(found.token_id, request);
      request.caller = { token_id: found.token_id, application_id: found.application_id };
    },
    /** Resolves when no write is under way any more. */
    settle: async (): Promise<void> => {
      await Promise.all(recording.values());
    },
  };
};
