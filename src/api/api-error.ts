import type { FastifyError } from 'fastify';
import { isPostgresError } from '#db/sqlstate.ts';
import { PLATFORM_FAILURES, type PlatformFailure } from '#src/contract/platform-codes.ts';
import { CatalogueError, coerceError, isUnreachable } from '#src/errors.ts';

/** An error that is answered with one of the contract's failure codes. */
export class ApiError extends CatalogueError {
  override readonly name = 'ApiError';
  readonly failure: PlatformFailure;
  /** Headers of the answer, by lower-case name. */
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

/** Convert anything thrown while a call is answered. An error that is not known becomes `fault`. */
export const toApiError = (thrown: unknown): ApiError => {
  const error = coerceError(thrown);
  if (error instanceof ApiError) return error;
  const { code, statusCode } = error as Partial<FastifyError>;
  const known = code === undefined ? undefined : FASTIFY_FAILURES[code];
  if (known !== undefined) return new ApiError(known, undefined, { cause: error });
  // Fastify's other client errors: a wrong Content-Length, a malformed path, a body that broke off.
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new ApiError('invalidHttp', undefined, { cause: error });
  }
  return new ApiError(isUnavailable(error) ? 'unavailable' : 'fault', undefined, { cause: error });
};
