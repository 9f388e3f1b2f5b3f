import { z } from 'zod';

/**
 * Every way in which a platform-side operation fails. Section 7 leaves codes and HTTP statuses open: the status
 * is the one HTTP has for it, `ret_code` is the status times 100 plus a detail (design, section 5, decision 4).
 * A code keeps its meaning for good; new ones may come.
 */
export const PLATFORM_FAILURES = {
  invalidField: {
    ret_code: 40001,
    meaning: 'A field is missing, of the wrong type or out of bounds; ret_msg names it.',
  },
  invalidJson: { ret_code: 40002, meaning: 'The body is not JSON in UTF-8.' },
  invalidHttp: { ret_code: 40003, meaning: 'The request is not well-formed HTTP.' },
  noToken: { ret_code: 40101, meaning: 'There is no Authorization: Bearer <ACCESS_TOKEN> header.' },
  unknownToken: {
    ret_code: 40102,
    meaning: 'The access token is not one of ours: check that it is complete.',
  },
  endedToken: {
    ret_code: 40103,
    meaning: 'The access token has expired or was revoked: ask the platform for a new one.',
  },
  noSuchPath: { ret_code: 40401, meaning: 'There is no operation at this path.' },
  wrongMethod: {
    ret_code: 40501,
    meaning: 'The path knows other methods only; the Allow header lists them.',
  },
  requestTimeout: { ret_code: 40801, meaning: 'The request did not arrive within the time limit.' },
  bodyTooLarge: { ret_code: 41301, meaning: 'The body is larger than 16 KiB.' },
  wrongContentType: { ret_code: 41501, meaning: 'The Content-Type is not application/json in UTF-8.' },
  unmetExpectation: { ret_code: 41701, meaning: 'The Expect header asks for something that is not offered.' },
  tooManyRequests: {
    ret_code: 42901,
    meaning: 'This token has made too many requests; Retry-After says when to go on, in seconds.',
  },
  headersTooLarge: { ret_code: 43101, meaning: 'The request headers are too large.' },
  fault: { ret_code: 50001, meaning: 'A fault of the platform; it has been logged.' },
  unavailable: {
    ret_code: 50301,
    meaning: 'The platform cannot reach its data at the moment: try again later.',
  },
} as const satisfies Record<string, { ret_code: number; meaning: string }>;
export type PlatformFailure = keyof typeof PLATFORM_FAILURES;

/** The HTTP status of a failure. */
export const statusOf = (failure: PlatformFailure): number =>
  Math.floor(PLATFORM_FAILURES[failure].ret_code / 100);

/** The envelope of a failure (sections 2.1 and 7.2). */
export const failureResponseSchema = z
  .object({
    ret_code: z.int().meta({ description: 'The HTTP status times 100 plus a detail.' }),
    ret_msg: z.string().meta({ description: 'What is wrong, in words.' }),
    data: z.null(),
  })
  .meta({ id: 'Failure' });
export type FailureResponse = z.infer<typeof failureResponseSchema>;

/** @param ret_msg what is wrong in this case; without one, what the code means in general */
export const failureResponse = (failure: PlatformFailure, ret_msg?: string): FailureResponse => ({
  ret_code: PLATFORM_FAILURES[failure].ret_code,
  ret_msg: ret_msg ?? PLATFORM_FAILURES[failure].meaning,
  data: null,
});
