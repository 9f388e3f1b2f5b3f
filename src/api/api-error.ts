import type { FastifyError } from 'fastify';
import { isPostgresError } from '#db/sqlstate.ts';
import { PLATFORM_FAILURES, type PlatformFailure } from '#src/contract/platform-codes.ts';
import { CatalogueError, coerceError, isUnreachable } from '#src/errors.ts';

/** An error with the failure code of its response. */
export class ApiError extends CatalogueError {
  override readonly name = 'ApiError';
  readonly failure: PlatformFailure;
  /** Headers of the response, by lower-case name. */
  readonly headers: Record<string, string>;

  /** @param message `ret_msg`; the default is the general meaning of the code */
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

/** Failure codes of Fastify's own errors. */
const FASTIFY_FAILURES: Record<string, PlatformFailure> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'wrongContentType',
  FST_ERR_CTP_BODY_TOO_LARGE: 'bodyTooLarge',
};

/** SQLSTATE classes of a server that cannot serve: connection, insufficient resources, operator intervention. */
const UNAVAILABLE_STATES = /^(08|53|57)...$/;

const isUnavailable = (error: Error): boolean =>
  isUnreachable(error) || (isPostgresError(error) && UNAVAILABLE_STATES.test(error.code));

/** Convert a thrown value. An unknown error becomes `fault`. */
export const toApiError = (thrown: unknown): ApiError => {
  const error = coerceError(thrown);
  if (error instanceof ApiError) return error;
  return new ApiError(failureOf(error), undefined, { cause: error });
};

const failureOf = (error: Error): PlatformFailure => {
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>;
  if (FASTIFY_FAILURES[code] !== undefined) return FASTIFY_FAILURES[code];
  // Fastify's other client errors: a wrong Content-Length, a malformed path, an incomplete body.
  if (statusCode >= 400 && statusCode < 500) return 'invalidHttp';
  return isUnavailable(error) ? 'unavailable' : 'fault';
};
