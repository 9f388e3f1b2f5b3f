import { z } from 'zod';
import {
  applicationGameDetailSchema,
  applicationGameSummarySchema,
  EXAMPLE_DETAIL,
  kycRecordSchema,
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
} from '#src/contract/application.ts';
import {
  createOpenApiDocument,
  describeOperation,
  type Examples,
  jsonContent,
  type OpenApiDocument,
  successExample,
} from '#src/contract/openapi.ts';
import { successOf } from '#src/contract/platform.ts';

const DESCRIPTION = `The three callbacks that an application's server implements and the platform's server calls. You choose their addresses; the paths below stand for them.

Answer every call with the envelope \`{"ret_code", "ret_msg", "data"}\` as JSON in UTF-8. \`ret_code\` 0 is success, and \`ret_msg\` is then \`success\`. Any other value is a failure, and the platform retries the call later. Check the \`Authorization: Bearer <ACCESS_TOKEN>\` header of each call against the token you gave the platform.

The platform validates strictly. A missing field, a null for a string or a URL that is not http or https makes that game invalid; the other games are stored. Unknown fields are ignored. The \`game_id\` of a detail must be the requested one. Responses are limited to 4 MiB (list), 1 MiB (detail) and 256 KiB (KYC), and to 15 seconds. Redirects are not followed. 429 or 503 with Retry-After delays the next call.`;

const failureSchema = z
  .object({
    ret_code: z.int().meta({ description: 'Any value but 0.' }),
    ret_msg: z
      .string()
      .meta({ description: 'A specific failure reason, shown to the platform’s operators.' }),
    data: z.null().optional(),
  })
  .meta({ id: 'Failure' });

const FAILURE: Examples = {
  failed: {
    summary: 'A failure',
    value: { ret_code: 1, ret_msg: 'the game database is being moved', data: null },
  },
};
const failureResponse = {
  description: 'A failure, in the envelope.',
  content: jsonContent(failureSchema, FAILURE),
};

const describeCallback = (callback: Omit<Parameters<typeof describeOperation>[0], 'success' | 'failures'>) =>
  describeOperation({
    ...callback,
    success: 'Success: the data, in the envelope. A failure may have this status too.',
    response: z.union([callback.response, failureSchema]),
    responseExamples: { ...callback.responseExamples, ...FAILURE },
    failures: { '4XX': failureResponse, '5XX': failureResponse },
  });

const queryKyc = describeCallback({
  operationId: 'queryKYC',
  summary: "The developer's KYC record",
  description: 'cp.queryKYC, at your query_cp_kyc_webhook. `data` is null if there is no record.',
  tag: 'Developer',
  request: z.object({}).meta({ id: 'QueryKycRequest', description: 'There are no fields.' }),
  requestExamples: { empty: { summary: 'Always the empty object', value: {} } },
  response: successOf(kycRecordSchema.meta({ id: 'KycRecord' }).nullable()).meta({ id: 'QueryKycResponse' }),
  responseExamples: {
    record: successExample('A record', {
      cp_id: 'cp-77',
      cp_name: 'Example Games Company Limited',
      cp_short_name: 'Example Games',
      legal_entity: 'A. Person',
      id_type: 'passport',
      id_number: 'X0000000',
      tax_id: '000000000',
      registered_address: '1 Example Street, Example Town',
      corporate_account: '0000000000',
      opening_bank: 'Example Bank',
    }),
    none: successExample('No record', null),
  },
});

const { game_id, game_name, game_icon } = EXAMPLE_DETAIL;

const queryList = describeCallback({
  operationId: 'queryList',
  summary: 'One page of your games',
  description:
    'game.queryList, at your query_game_list_webhook. Keep the order of the games stable between pages; a page past the end is [].',
  tag: 'Games',
  request: z
    .object({
      page_num: z.int().min(1).default(1).meta({ description: 'Page number, from 1.' }),
      page_size: z
        .int()
        .min(1)
        .max(PAGE_SIZE_MAX)
        .default(PAGE_SIZE_DEFAULT)
        .meta({ description: 'Rows per page.' }),
    })
    .meta({ id: 'QueryListRequest' }),
  requestExamples: { page: { summary: 'The first hundred', value: { page_num: 1, page_size: 100 } } },
  response: successOf(
    z.object({
      total: z.int().min(0).meta({ description: 'Total number of games.' }),
      list: z
        .array(applicationGameSummarySchema.meta({ id: 'GameSummary' }))
        .meta({ description: '[] when there is no data, and past the last page.' }),
    }),
  ).meta({ id: 'QueryListResponse' }),
  responseExamples: {
    page: successExample('One game', {
      total: 1,
      list: [{ game_id, game_name, game_icon: game_icon[0] }],
    }),
    none: successExample('No game', { total: 0, list: [] }),
  },
});

const queryDetail = describeCallback({
  operationId: 'queryDetail',
  summary: 'One of your games in full',
  description:
    'game.queryDetail, at your query_game_detail_webhook. `data` is null if there is no such game.',
  tag: 'Games',
  request: z
    .object({ game_id: z.string().meta({ description: 'A game_id that your queryList returned.' }) })
    .meta({ id: 'QueryDetailRequest' }),
  requestExamples: { game: { summary: 'One game', value: { game_id } } },
  response: successOf(applicationGameDetailSchema.meta({ id: 'GameDetail' }).nullable()).meta({
    id: 'QueryDetailResponse',
  }),
  responseExamples: {
    game: successExample('A game', EXAMPLE_DETAIL),
    none: successExample('No such game', null),
  },
});

/** The OpenAPI 3.1 document of the application-side callbacks (sections 4.3 to 4.5): what applications implement. */
export const openapiApplication = (): OpenApiDocument =>
  createOpenApiDocument({
    title: 'Game Catalogue: application-side callbacks',
    description: DESCRIPTION,
    accessToken: 'The token you gave the platform.',
    servers: [
      {
        url: 'https://{host}',
        description: "The application's own server.",
        variables: { host: { default: 'games.example.com', description: 'Your host.' } },
      },
    ],
    tags: [
      { name: 'Developer', description: 'The company that makes the games.' },
      { name: 'Games', description: 'The games of the application.' },
    ],
    paths: {
      '/query_cp_kyc_webhook': queryKyc,
      '/query_game_list_webhook': queryList,
      '/query_game_detail_webhook': queryDetail,
    },
  });
