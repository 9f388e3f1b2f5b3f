import { z } from 'zod';
import {
  applicationGameDetailSchema,
  applicationGameSummarySchema,
  kycRecordSchema,
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
} from '#src/contract/application.ts';
import {
  componentsOf,
  type Example,
  json,
  type OpenApiDocument,
  type Operation,
  ref,
} from '#src/contract/openapi.ts';
import { successOf } from '#src/contract/platform.ts';

const summary = applicationGameSummarySchema.meta({ id: 'GameSummary' });
const detail = applicationGameDetailSchema.meta({ id: 'GameDetail' });
const kycRecord = kycRecordSchema.meta({ id: 'KycRecord' });

const kycResponse = successOf(kycRecord.nullable()).meta({ id: 'QueryKycResponse' });
const listResponse = successOf(
  z.object({
    total: z.int().min(0).meta({ description: 'Total number of games.' }),
    list: z.array(summary).meta({ description: '[] when there is no data, and past the last page.' }),
  }),
).meta({ id: 'QueryListResponse' });
const detailResponse = successOf(detail.nullable()).meta({ id: 'QueryDetailResponse' });
const failure = z
  .object({
    ret_code: z.int().meta({ description: 'Any value but 0.' }),
    ret_msg: z
      .string()
      .meta({ description: 'A specific failure reason, shown to the platform’s operators.' }),
    data: z.null().optional(),
  })
  .meta({ id: 'Failure' });

const kycRequest = z.object({}).meta({ id: 'QueryKycRequest', description: 'There are no fields.' });
const listRequest = z
  .object({
    page_num: z.int().min(1).default(1).meta({ description: 'Page number, from 1.' }),
    page_size: z
      .int()
      .min(1)
      .max(PAGE_SIZE_MAX)
      .default(PAGE_SIZE_DEFAULT)
      .meta({ description: 'Rows per page.' }),
  })
  .meta({ id: 'QueryListRequest' });
const detailRequest = z
  .object({ game_id: z.string().meta({ description: 'A game_id as your queryList returned it.' }) })
  .meta({ id: 'QueryDetailRequest' });

const DESCRIPTION = `The three callbacks that an application's server implements and the platform's server calls. You choose their addresses; the paths below stand for them.

Answer every call with the envelope \`{"ret_code", "ret_msg", "data"}\` as JSON in UTF-8. \`ret_code\` 0 is success, \`ret_msg\` is then \`success\`; any other value is a failure that the platform tries again later. Check the \`Authorization: Bearer <ACCESS_TOKEN>\` header of each call against the token you gave the platform.

What the platform reads strictly: a missing field, a null for a string or an address that is not http or https makes that game invalid (the others go on); unknown fields are ignored; \`game_id\` of a detail must be the one asked for; answers are bounded to 4 MiB (list), 1 MiB (detail) and 256 KiB (KYC) and 15 seconds; redirects are not followed. 429 or 503 with Retry-After is honoured.`;

const envelope = (data: unknown) => ({ ret_code: 0, ret_msg: 'success', data });
const failed: Example = {
  summary: 'A failure',
  value: { ret_code: 1, ret_msg: 'the game database is being moved', data: null },
};

const callback = (words: {
  operationId: string;
  summary: string;
  description: string;
  tag: string;
  request: string;
  requestExamples: Record<string, Example>;
  response: string;
  examples: Record<string, Example>;
}): Operation => ({
  operationId: words.operationId,
  summary: words.summary,
  description: words.description,
  tags: [words.tag],
  requestBody: { required: true, content: json(words.request, words.requestExamples) },
  responses: {
    200: {
      description: 'Success: the data, in the envelope. A failure may come with this status too.',
      content: {
        'application/json': {
          schema: { anyOf: [ref(words.response), ref('Failure')] },
          examples: { ...words.examples, failed },
        },
      },
    },
    '4XX': { description: 'A failure, in the envelope.', content: json('Failure', { failed }) },
    '5XX': { description: 'A failure, in the envelope.', content: json('Failure', { failed }) },
  },
});

const game = { game_id: 'g-1001', game_name: 'Lantern Harbour' };
const none: Example = { summary: 'No data', value: envelope(null) };

/** The OpenAPI 3.1 document of the application-side callbacks (sections 4.3 to 4.5): what applications implement. */
export const openapiApplication = (): OpenApiDocument => ({
  openapi: '3.1.1',
  info: {
    title: 'Game Catalogue: application-side callbacks',
    version: '1',
    description: DESCRIPTION,
    license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
  },
  servers: [
    {
      url: 'https://{host}',
      description: "The application's own server.",
      variables: { host: { default: 'games.example.com', description: 'Your host.' } },
    },
  ],
  tags: [
    { name: 'Developer', description: 'Who makes the games.' },
    { name: 'Games', description: 'The games of the application.' },
  ],
  security: [{ accessToken: [] }],
  paths: {
    '/query_cp_kyc_webhook': {
      post: callback({
        operationId: 'queryKYC',
        summary: "The developer's KYC record",
        description: 'cp.queryKYC, at your query_cp_kyc_webhook. `data` is null when there is no data.',
        tag: 'Developer',
        request: 'QueryKycRequest',
        requestExamples: { empty: { summary: 'Always the empty object', value: {} } },
        response: 'QueryKycResponse',
        examples: {
          record: {
            summary: 'A record',
            value: envelope({
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
          },
          none,
        },
      }),
    },
    '/query_game_list_webhook': {
      post: callback({
        operationId: 'queryList',
        summary: 'One page of your games',
        description:
          'game.queryList, at your query_game_list_webhook. Keep the order of the games stable between pages; a page past the end is [].',
        tag: 'Games',
        request: 'QueryListRequest',
        requestExamples: { page: { summary: 'The first hundred', value: { page_num: 1, page_size: 100 } } },
        response: 'QueryListResponse',
        examples: {
          page: {
            summary: 'One game',
            value: envelope({
              total: 1,
              list: [{ ...game, game_icon: 'https://cdn.example.com/1001/icon.png' }],
            }),
          },
          none: { summary: 'No game', value: envelope({ total: 0, list: [] }) },
        },
      }),
    },
    '/query_game_detail_webhook': {
      post: callback({
        operationId: 'queryDetail',
        summary: 'One of your games in full',
        description:
          'game.queryDetail, at your query_game_detail_webhook. `data` is null when there is no data.',
        tag: 'Games',
        request: 'QueryDetailRequest',
        requestExamples: { game: { summary: 'One game', value: { game_id: game.game_id } } },
        response: 'QueryDetailResponse',
        examples: {
          game: {
            summary: 'A game',
            value: envelope({
              ...game,
              game_icon: ['https://cdn.example.com/1001/icon.png'],
              game_info: 'Bring the boats home before the fog.',
              game_store_video: '',
              game_store_pic: [],
            }),
          },
          none,
        },
      }),
    },
  },
  components: {
    schemas: {
      ...componentsOf([kycRequest, listRequest, detailRequest], 'input'),
      ...componentsOf(
        [summary, detail, kycRecord, kycResponse, listResponse, detailResponse, failure],
        'output',
      ),
    },
    securitySchemes: {
      accessToken: { type: 'http', scheme: 'bearer', description: 'The token you gave the platform.' },
    },
  },
});
