import {
  componentsOf,
  type Example,
  json,
  type OpenApiDocument,
  type Operation,
} from '#src/contract/openapi.ts';
import {
  auditStatusSchema,
  gameDetailSchema,
  gameListSchema,
  gameSummarySchema,
  LIST_BY_AUDIT_STATUS_PATH,
  listByAuditStatusRequestSchema,
  listByAuditStatusResponseSchema,
  QUERY_DETAIL_PATH,
  queryDetailRequestSchema,
  queryDetailResponseSchema,
} from '#src/contract/platform.ts';
import {
  failureResponse,
  failureResponseSchema,
  PLATFORM_FAILURES,
  type PlatformFailure,
  statusOf,
} from '#src/contract/platform-codes.ts';

const codeTable = Object.values(PLATFORM_FAILURES).map(
  ({ ret_code, meaning }) => `| ${ret_code} | ${meaning} |`,
);

const DESCRIPTION = `The operations that the platform offers to applications' servers: list games by audit status, and read one game in full. Call them from a server, never from a client.

Every answer is the envelope \`{"ret_code", "ret_msg", "data"}\`. \`ret_code\` 0 is success and \`ret_msg\` is then \`success\`; any other value is a failure, \`ret_msg\` says what is wrong, and \`data\` is null.

An application's token reads that application's games, an operator's token reads all. What a token may not see does not exist for it. Games that their application lists no more are not in the catalogue. Times are in the platform's time zone (UTC unless it says otherwise).

| ret_code | meaning |
|---|---|
${codeTable.join('\n')}`;

const envelope = (data: unknown) => ({ ret_code: 0, ret_msg: 'success', data });
const exampleOf = (
  schema: typeof gameDetailSchema | typeof listByAuditStatusRequestSchema | typeof queryDetailRequestSchema,
) => (schema.meta()?.examples as unknown[] | undefined)?.[0];

/** Failures that any call with a token and a body may meet. */
const CALL_FAILURES: PlatformFailure[] = [
  'invalidField',
  'invalidJson',
  'invalidHttp',
  'noToken',
  'unknownToken',
  'endedToken',
  'requestTimeout',
  'bodyTooLarge',
  'wrongContentType',
  'tooManyRequests',
  'headersTooLarge',
  'fault',
  'unavailable',
];

const HEADERS: Record<number, Record<string, unknown>> = {
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

const STATUS_WORDS: Record<number, string> = {
  400: 'The request is not as it must be.',
  401: 'No access token, or none that is valid.',
  408: 'The request did not arrive in time.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  429: 'Too many calls.',
  431: 'The headers are too large.',
  500: 'A fault of the platform.',
  503: 'The platform is not available at the moment.',
};

/** One response a status, with one example a code. */
const failureResponses = (failures: readonly PlatformFailure[]): Operation['responses'] => {
  const byStatus = Map.groupBy(failures, statusOf);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => {
      const examples = Object.fromEntries(
        group.map((failure): [string, Example] => [
          String(PLATFORM_FAILURES[failure].ret_code),
          { summary: PLATFORM_FAILURES[failure].meaning, value: failureResponse(failure) },
        ]),
      );
      const headers = HEADERS[status];
      return [
        String(status),
        {
          description: STATUS_WORDS[status] ?? '',
          ...(headers && { headers }),
          content: json('Failure', examples),
        },
      ];
    }),
  );
};

const listByAuditStatus: Operation = {
  operationId: 'listByAuditStatus',
  summary: 'List games by audit status',
  description:
    'game.listByAuditStatus: games of one audit status, ordered by game_id, in pages. `data.total` is the number of all games of that status.',
  tags: ['Games'],
  requestBody: {
    required: true,
    content: json('ListByAuditStatusRequest', {
      firstPage: {
        summary: 'The first page of the games that await review',
        value: exampleOf(listByAuditStatusRequestSchema),
      },
      defaults: {
        summary: 'The same: page_num is 1 and page_size 20 unless given',
        value: { audit_status: 'pending' },
      },
    }),
  },
  responses: {
    200: {
      description: 'The games of the page.',
      content: json('ListByAuditStatusResponse', {
        page: {
          summary: 'One game',
          value: envelope({
            total: 1,
            list: [
              {
                game_id: '019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b',
                game_name: 'Lantern Harbour',
                audit_status: 'passed',
                audit_time: '2026-03-31 09:05:00',
              },
            ],
          }),
        },
        none: { summary: 'No game', value: envelope({ total: 0, list: [] }) },
      }),
    },
    ...failureResponses(CALL_FAILURES),
  },
};

const queryDetail: Operation = {
  operationId: 'queryDetail',
  summary: 'Read one game',
  description: 'game.queryDetail: one game in full; `data` is null when there is none with this `game_id`.',
  tags: ['Games'],
  requestBody: {
    required: true,
    content: json('QueryDetailRequest', {
      game: { summary: 'One game', value: exampleOf(queryDetailRequestSchema) },
    }),
  },
  responses: {
    200: {
      description: 'The game, or null.',
      content: json('QueryDetailResponse', {
        game: { summary: 'A game', value: envelope(exampleOf(gameDetailSchema)) },
        none: { summary: 'No such game', value: envelope(null) },
      }),
    },
    ...failureResponses(CALL_FAILURES),
  },
};

/** The OpenAPI 3.1 document of the platform-side operations (sections 4.1 and 4.2). */
export const openapiPlatform = (options: { baseUrl?: string } = {}): OpenApiDocument => ({
  openapi: '3.1.1',
  info: {
    title: 'Game Catalogue: platform-side operations',
    version: '1',
    description: DESCRIPTION,
    license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
  },
  servers: [{ url: options.baseUrl ?? '/' }],
  tags: [{ name: 'Games', description: 'The catalogue of games.' }],
  security: [{ accessToken: [] }],
  paths: {
    [LIST_BY_AUDIT_STATUS_PATH]: { post: listByAuditStatus },
    [QUERY_DETAIL_PATH]: { post: queryDetail },
  },
  components: {
    schemas: {
      ...componentsOf([auditStatusSchema, listByAuditStatusRequestSchema, queryDetailRequestSchema], 'input'),
      ...componentsOf(
        [
          auditStatusSchema,
          gameSummarySchema,
          gameListSchema,
          gameDetailSchema,
          listByAuditStatusResponseSchema,
          queryDetailResponseSchema,
          failureResponseSchema,
        ],
        'output',
      ),
    },
    securitySchemes: {
      accessToken: { type: 'http', scheme: 'bearer', description: 'Made with `catalogue token create`.' },
    },
  },
});
