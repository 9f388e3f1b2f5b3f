import type { FastifyError } from 'fastify';
import { isPostgresError } from '#db/sqlstate.ts';
import { PLATFORM_FAILURES, type PlatformFailure } from '#src/contract/platform-codes.ts';
import { CatalogueError, coerceError, isUnreachable } from '#src/errors.ts';

/** A call that is answered with one of the failures of the contract. */
export class Refusal extends CatalogueError {
  override readonly name = 'Refusal';
  readonly failure: PlatformFailure;
  /** Headers of the answer, by lower-case name. */
  readonly headers: Record<string, string>;

  /** @param message `ret_msg`; without one, what the code means in general */
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

/** Fastify's own refusals, by its error code. */
const FASTIFY_FAILURES: Record<string, PlatformFailure> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'wrongContentType',
  FST_ERR_CTP_BODY_TOO_LARGE: 'bodyTooLarge',
};

/** SQLSTATE classes of a server that is there and can't serve: connection, resources, operator intervention. */
const UNAVAILABLE_STATES = /^(08|53|57)...$/;

/** Connection lost, ended by the server, or not given. */
const LOST_STATES = /^(08...|57P..|53300)$/;

/** Did the connection break, or not come about, that the database was asked over? */
export const isConnectionLost = (error: Error): boolean =>
  isUnreachable(error) || (isPostgresError(error) && LOST_STATES.test(error.code));

const isUnavailable = (error: Error): boolean =>
  isUnreachable(error) || (isPostgresError(error) && UNAVAILABLE_STATES.test(error.code));

/** Anything thrown while a call was answered, as one of the contract's failures. */
export const refusalOf = (thrown: unknown): Refusal => {
  const error = coerceError(thrown);
  if (error instanceof Refusal) return error;
  const { code, statusCode } = error as Partial<FastifyError>;
  const known = code === undefined ? undefined : FASTIFY_FAILURES[code];
  if (known !== undefined) return new Refusal(known, undefined, { cause: error });
  // What else Fastify refuses of a request: its length, its path, a body that broke off.
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new Refusal('invalidHttp', undefined, { cause: error });
  }
  return new Refusal(isUnavailable(error) ? 'unavailable' : 'fault', undefined, { cause: error });
};
