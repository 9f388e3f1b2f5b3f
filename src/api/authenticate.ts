import type { FastifyRequest, onRequestAsyncHookHandler, preHandlerAsyncHookHandler } from 'fastify';
import pTimeout from 'p-timeout';
import type { Database } from '#db/client.ts';
import { findPresentedToken, type PresentedToken, recordTokenUse } from '#db/queries/tokens.ts';
import { ApiError } from '#src/api/api-error.ts';
import { createRefusalLog } from '#src/api/refusals.ts';
import { shareReads } from '#src/api/share-reads.ts';
import { hasRight } from '#src/contract/roles.ts';
import { hashApiToken, isApiToken } from '#src/rules/api-token.ts';

/** The token of a call, with its owner: an application, or an operator with the roles that both have now. */
export type TokenCaller = Omit<PresentedToken, 'ended' | 'recently_used'>;

/** The hooks of a call that writes: before its body is read, and when the body is there. */
export type Guard = { onRequest: onRequestAsyncHookHandler[]; preHandler: preHandlerAsyncHookHandler[] };

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the `authenticate` hook. */
    caller: TokenCaller | null;
  }
}

const REALM = 'Bearer realm="game-catalogue"';
const BEARER = /^Bearer +(\S+) *$/i;
/** Longest wait at shutdown for writes of `last_used_at`. */
const CLOSE_MS = 2_000;

const invalidToken = (failure: 'unknownToken' | 'endedToken'): ApiError =>
  new ApiError(failure, undefined, { headers: { 'www-authenticate': `${REALM}, error="invalid_token"` } });

/** Returns the caller of a request. @throws Error on a route without the `authenticate` hook */
export const callerOf = (request: FastifyRequest): TokenCaller => {
  if (request.caller === null) throw new Error('the route does not authenticate its callers');
  return request.caller;
};

/**
 * Whose games the caller reads.
 * @returns an application, or null for the games of all
 * @throws ApiError forbidden for an operator's token without a role that may see games
 */
export const scopeOf = (request: FastifyRequest): string | null => {
  const { login, application_id, roles } = callerOf(request);
  if (login !== null && !hasRight(roles, 'view'))
    throw new ApiError('forbidden', `This token has no role that ${login} still has.`);
  return application_id;
};

/**
 * The application of the caller's token.
 * @throws ApiError forbidden for an operator's token
 */
export const callerApplicationId = (request: FastifyRequest): string => {
  const { application_id } = callerOf(request);
  if (application_id !== null) return application_id;
  throw new ApiError('forbidden', "This operation takes an application's token, not an operator's.");
};

/**
 * Creates a hook that requires an API token (section 5) and sets `request.caller`. Each call reads its token from the
 * database, so a revocation applies to the next call.
 */
export const createAuthenticator = (sql: Database) => {
  const writes = new Map<string, Promise<void>>();
  const logRefusal = createRefusalLog();
  const findToken = shareReads(
    (hash: Buffer) => findPresentedToken(sql, hash),
    (hash) => hash.toString('base64'),
  );

  /** Starts the write and returns, so the call does not wait for it. */
  const recordUse = (token_id: string, request: FastifyRequest): void => {
    if (writes.has(token_id)) return;
    const write = recordTokenUse(sql, token_id)
      .catch((error: unknown) =>
        request.log.warn({ err: error, token_id }, 'last use of a token not recorded'),
      )
      .finally(() => writes.delete(token_id));
    writes.set(token_id, write);
  };

  return {
    authenticate: async (request: FastifyRequest): Promise<void> => {
      // Node keeps the first of several headers, and a proxy before us may check another.
      if ((request.raw.headersDistinct.authorization?.length ?? 0) > 1)
        throw new ApiError('invalidHttp', 'The request has more than one Authorization header: send one.');
      const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
      if (token === undefined) {
        logRefusal(request, 'noToken');
        throw new ApiError('noToken', undefined, { headers: { 'www-authenticate': REALM } });
      }
      const found = isApiToken(token) ? await findToken(hashApiToken(token)) : undefined;
      if (found === undefined || found.ended) {
        const failure = found === undefined ? 'unknownToken' : 'endedToken';
        logRefusal(request, failure, found?.token_id);
        throw invalidToken(failure);
      }
      if (!found.recently_used) recordUse(found.token_id, request);
      const { ended: _ended, recently_used: _recent, ...caller } = found;
      request.caller = caller;
    },
    close: async (): Promise<void> => {
      await pTimeout(Promise.all(writes.values()), { milliseconds: CLOSE_MS, message: false });
    },
  };
};
