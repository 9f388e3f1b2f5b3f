import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify';
import { STATEMENT_MS } from '#db/client.ts';
import { ApiError } from '#src/api/api-error.ts';
import { callerOf } from '#src/api/authenticate.ts';
import { type ApiPlatform, ENDPOINTS, operatorOf } from '#src/api/endpoints.ts';
import { checkBody, OPERATOR_BODY_MAX_BYTES, success } from '#src/api/wire.ts';
import { successOf } from '#src/contract/platform.ts';
import type { PlatformFailure } from '#src/contract/platform-codes.ts';
import { CatalogueError, coerceError, NotFoundError, UsageError } from '#src/errors.ts';
import { ForbiddenError } from '#src/operations/operation.ts';
import { ApprovalError } from '#src/operations/second-person.ts';
import { KeyError } from '#src/sealing/errors.ts';

/** The failure that an error of an operation is. Undefined: a fault of the platform. */
const classify = (error: Error): PlatformFailure | undefined => {
  if (error instanceof KeyError) return error.retryable ? 'unavailable' : 'forbidden';
  if (error instanceof ForbiddenError) return 'forbidden';
  if (error instanceof ApprovalError) return 'secondPerson';
  if (error instanceof NotFoundError) return 'notFound';
  if (error instanceof UsageError) return 'invalidField';
  return error instanceof CatalogueError ? 'conflict' : undefined;
};

const toFailure = (thrown: unknown): Error => {
  const error = coerceError(thrown);
  const failure = error instanceof ApiError ? undefined : classify(error);
  return failure === undefined ? error : new ApiError(failure, error.message, { cause: error });
};

/**
 * `POST /operator-api/<subject>/<verb>`: what operators do and see, for the operator of the token. Each call is checked by
 * its operation or list, like a click in the console.
 */
export const addOperatorRoutes = (
  app: FastifyInstance,
  { platform, onRequest }: { platform: ApiPlatform; onRequest: onRequestAsyncHookHandler[] },
): void => {
  for (const { path, request: schema, answer, isLong, run } of ENDPOINTS) {
    const options = {
      onRequest,
      bodyLimit: OPERATOR_BODY_MAX_BYTES,
      config: { deadlineMs: isLong ? STATEMENT_MS.long : STATEMENT_MS.default },
      ...(answer !== undefined && { schema: { response: { 200: successOf(answer) } } }),
    };
    app.post(path, options, async (request) => {
      // Whose token is refused hears so before what is wrong with the body.
      const caller = operatorOf(callerOf(request));
      // The operation gets the body as it was sent, and converts it itself.
      checkBody(schema, request.body);
      try {
        return success(await run(request.body, caller, platform));
      } catch (thrown) {
        throw toFailure(thrown);
      }
    });
  }
};
