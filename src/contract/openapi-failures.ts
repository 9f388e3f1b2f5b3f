/** Failures in OpenAPI documents. */
import type { ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import { jsonContent } from '#src/contract/openapi.ts';
import {
  failureResponse,
  failureResponseSchema,
  PLATFORM_FAILURES,
  type PlatformFailure,
  statusOf,
} from '#src/contract/platform-codes.ts';

/** Every code, as a table in Markdown. */
export const CODE_TABLE = [
  '| ret_code | meaning |',
  '|---|---|',
  ...Object.values(PLATFORM_FAILURES).map(({ ret_code, meaning }) => `| ${ret_code} | ${meaning} |`),
].join('\n');

/** Failures of calls that reach no operation, and of some operations alone. */
const OTHER_FAILURES: PlatformFailure[] = [
  'noSuchPath',
  'wrongMethod',
  'unmetExpectation',
  'secondPerson',
  'notFound',
  'conflict',
  'goneEvent',
  'tooManyRefreshes',
];
export const CALL_FAILURES = (Object.keys(PLATFORM_FAILURES) as PlatformFailure[]).filter(
  (failure) => !OTHER_FAILURES.includes(failure),
);

const STATUS_DESCRIPTIONS: Record<number, string> = {
  400: 'The request is invalid.',
  401: 'The access token is missing or invalid.',
  403: 'The access token may not do this.',
  404: 'There is nothing with this id.',
  408: 'The request did not arrive in time.',
  409: 'The present state does not allow this.',
  410: 'The event is deleted.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  429: 'Too many calls.',
  431: 'The headers are too large.',
  500: 'An internal error of the platform.',
  503: 'The platform is temporarily unavailable.',
};

const STATUS_HEADERS: Record<number, ZodOpenApiResponseObject['headers']> = {
  401: {
    'WWW-Authenticate': { description: 'The Bearer challenge.', required: true, schema: { type: 'string' } },
  },
  429: {
    'Retry-After': {
      description: 'Seconds to wait.',
      required: true,
      schema: { type: 'integer', minimum: 0 },
    },
  },
};

/** One response for each HTTP status, with an example of each of its codes. */
export const describeFailures = (codes: readonly PlatformFailure[]) =>
  Object.fromEntries(
    [...Map.groupBy(codes, statusOf)].map(([status, ofStatus]) => {
      const examples = ofStatus.map((failure) => {
        const { ret_code, meaning } = PLATFORM_FAILURES[failure];
        return [String(ret_code), { summary: meaning, value: failureResponse(failure) }];
      });
      return [
        String(status),
        {
          description: STATUS_DESCRIPTIONS[status] ?? '',
          ...(STATUS_HEADERS[status] && { headers: STATUS_HEADERS[status] }),
          content: jsonContent(failureResponseSchema, Object.fromEntries(examples)),
        },
      ];
    }),
  ) as ZodOpenApiResponsesObject;
