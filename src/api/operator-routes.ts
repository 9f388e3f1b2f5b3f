import type { FastifyInstance, FastifyRequest } from 'fastify';
import { STATEMENT_MS } from '#db/client.ts';
import { callerOf, type Guard } from '#src/api/authenticate.ts';
import { type ApiPlatform, ENDPOINTS, operatorOf } from '#src/api/endpoints.ts';
import { checkBody, OPERATOR_BODY_MAX_BYTES, success } from '#src/api/wire.ts';
import { successOf } from '#src/contract/platform.ts';

/**
 * `POST /operator-api/<subject>/<verb>`: what operators do and see, for the operator of the token. Each call is checked by
 * its operation or list, like a click in the console.
 */
export const addOperatorRoutes = (
  app: FastifyInstance,
  { platform, guard }: { platform: ApiPlatform; guard: Guard },
): void => {
  /** Refuses a token before the body is read, because the body may have megabytes of keys. */
  const requireOperator = async (request: FastifyRequest): Promise<void> => {
    operatorOf(callerOf(request));
  };
  for (const { path, request: schema, answer, isLong, run } of ENDPOINTS) {
    const options = {
      ...guard,
      onRequest: [...guard.onRequest, requireOperator],
      bodyLimit: OPERATOR_BODY_MAX_BYTES,
      config: { deadlineMs: isLong ? STATEMENT_MS.long : STATEMENT_MS.default },
      ...(answer !== undefined && { schema: { response: { 200: successOf(answer) } } }),
    };
    app.post(path, options, async (request) => {
      // The operation gets the body as it was sent, and converts it itself.
      checkBody(schema, request.body);
      return success(await run(request.body, operatorOf(callerOf(request)), platform));
    });
  }
};
