import type { FastifyError } from 'fastify';
import { refusesService } from '#db/sqlstate.ts';
import { PLATFORM_FAILURES, type PlatformFailure } from '#src/contract/platform-codes.ts';
import { CatalogueError, coerceError, isUnreachable, NotFoundError, UsageError } from '#src/errors.ts';
import { ForbiddenError } from '#src/operations/operation.ts';
import { ApprovalError } from '#src/operations/second-person.ts';
import { KeyError } from '#src/sealing/errors.ts';

/** An error that the API responds with. */
export class ApiError extends CatalogueError {
  override readonly name = 'ApiError';
  /** Decides `ret_code` and the HTTP status. */
  readonly failure: PlatformFailure;
  /** Headers of the response, by lower-case name. */
  readonly headers: Record<string, string>;

  /** @param message becomes `ret_msg`; by default the general meaning of the failure */
  constructor(
    failure: PlatformFailure,
    message: string = PLATFORM_FAILURES[failure].meaning,
    options: { headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, options);
    this.failure = failure;
    this.headers = options.headers ?? {};
  }
}

/** Failures for codes of Fastify's errors. */
const FASTIFY_FAILURES: Partial<Record<string, PlatformFailure>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'wrongContentType',
  FST_ERR_CTP_BODY_TOO_LARGE: 'bodyTooLarge',
};

/** The failure that an error of an operation stands for; undefined for a fault of the platform. */
const classifyRefusal = (error: Error): PlatformFailure | undefined => {
  if (error instanceof KeyError) return error.retryable ? 'unavailable' : 'forbidden';
  if (error instanceof ForbiddenError) return 'forbidden';
  if (error instanceof ApprovalError) return 'secondPerson';
  if (error instanceof NotFoundError) return 'notFound';
  if (error instanceof UsageError) return 'invalidField';
  return error instanceof CatalogueError ? 'conflict' : undefined;
};

const classifyFault = (error: Error): PlatformFailure => {
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>;
  const failure = FASTIFY_FAILURES[code];
  if (failure !== undefined) return failure;
  // Fastify's other client errors: a wrong Content-Length, a malformed path, an incomplete body.
  if (statusCode >= 400 && statusCode < 500) return 'invalidHttp';
  return isUnreachable(error) || refusesService(error) ? 'unavailable' : 'fault';
};

/** Converts a thrown value. An error of no known kind becomes `fault`. */
export const toApiError = (thrown: unknown): ApiError => {
  const error = coerceError(thrown);
  if (error instanceof ApiError) return error;
  const refusal = classifyRefusal(error);
  if (refusal !== undefined) return new ApiError(refusal, error.message, { cause: error });
  return new ApiError(classifyFault(error), undefined, { cause: error });
};
