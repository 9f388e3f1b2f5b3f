import { z } from 'zod';

/**
 * Failures of the platform-side operations and of the operator API. Section 7 specifies no codes, so `ret_code` is the HTTP
 * status times 100 plus a detail number. The meaning of a code never changes; new codes may be added.
 */
export const PLATFORM_FAILURES = {
  invalidField: {
    ret_code: 40001,
    meaning: 'A field is missing, of the wrong type or out of bounds; ret_msg names it.',
  },
  invalidJson: { ret_code: 40002, meaning: 'The body is not JSON in UTF-8.' },
  invalidHttp: { ret_code: 40003, meaning: 'The request is not well-formed HTTP.' },
  noToken: { ret_code: 40101, meaning: 'There is no Authorization: Bearer <ACCESS_TOKEN> header.' },
  unknownToken: { ret_code: 40102, meaning: 'The access token is unknown: check that it is complete.' },
  endedToken: {
    ret_code: 40103,
    meaning: 'The access token has expired or is revoked: request a new one from the platform.',
  },
  forbidden: { ret_code: 40301, meaning: 'This token may not do this; ret_msg says why.' },
  secondPerson: {
    ret_code: 40302,
    meaning: 'This takes a second person, or the approval cannot be used; ret_msg says why.',
  },
  noSuchPath: { ret_code: 40401, meaning: 'There is no operation at this path: /docs lists the operations.' },
  notFound: { ret_code: 40402, meaning: 'There is nothing with this id; ret_msg names it.' },
  wrongMethod: {
    ret_code: 40501,
    meaning: 'The path does not support this method; the Allow header lists the supported methods.',
  },
  requestTimeout: { ret_code: 40801, meaning: 'The request did not arrive within the time limit.' },
  conflict: {
    ret_code: 40901,
    meaning: 'Nothing was changed, because the present state does not allow it; ret_msg says why.',
  },
  goneEvent: {
    ret_code: 41001,
    meaning:
      'The value of "after" is not the event_id of one of your events, or that event has been deleted; send "" in "after" to start at the oldest event.',
  },
  bodyTooLarge: {
    ret_code: 41301,
    meaning:
      'The body is larger than 16 KiB, or 64 KiB for game.refresh, game.message and game.appeal, or 4 MiB for the operator API.',
  },
  wrongContentType: { ret_code: 41501, meaning: 'The Content-Type is not application/json in UTF-8.' },
  unmetExpectation: { ret_code: 41701, meaning: 'The expectation in the Expect header is not supported.' },
  tooManyRequests: {
    ret_code: 42901,
    meaning: 'This token has made too many requests; Retry-After is the number of seconds to wait.',
  },
  tooManyRefreshes: {
    ret_code: 42902,
    meaning: 'Too many of your games wait to be pulled; Retry-After is the number of seconds to wait.',
  },
  headersTooLarge: { ret_code: 43101, meaning: 'The request headers are too large.' },
  fault: { ret_code: 50001, meaning: 'An internal error of the platform; it has been logged.' },
  unavailable: { ret_code: 50301, meaning: 'The platform cannot respond now: retry later.' },
} as const satisfies Record<string, { ret_code: number; meaning: string }>;
export type PlatformFailure = keyof typeof PLATFORM_FAILURES;

/** The HTTP status of a failure. */
export const statusOf = (failure: PlatformFailure): number =>
  Math.floor(PLATFORM_FAILURES[failure].ret_code / 100);

/** The envelope of a failure (sections 2.1 and 7.2). */
export const failureResponseSchema = z
  .object({
    ret_code: z.int().meta({ description: 'The HTTP status times 100 plus a detail number.' }),
    ret_msg: z.string().meta({ description: 'The reason of the failure.' }),
    data: z.null(),
  })
  .meta({ id: 'Failure' });
export type FailureResponse = z.infer<typeof failureResponseSchema>;

/** @param ret_msg the specific reason; the default is the general meaning of the code */
export const failureResponse = (failure: PlatformFailure, ret_msg?: string): FailureResponse => ({
  ret_code: PLATFORM_FAILURES[failure].ret_code,
  ret_msg: ret_msg ?? PLATFORM_FAILURES[failure].meaning,
  data: null,
});
