import {
  type ApplicationGameDetail,
  type ApplicationGameList,
  applicationGameDetailSchema,
  applicationGameListSchema,
  type KycRecord,
  kycRecordSchema,
  type QueryGameDetailRequest,
  type QueryGameListRequest,
} from '#src/contract/application.ts';
import type { Operation } from '#src/contract/words.ts';
import { MAX_BODY_BYTES } from '#src/webhooks/bounds.ts';
import { WebhookError } from '#src/webhooks/errors.ts';
import { createHttpPost, type HttpPostOptions } from '#src/webhooks/http-post.ts';
import { readData, readEnvelope } from '#src/webhooks/read-response.ts';

/** Addresses and token of one application. */
export type WebhookTarget = {
  applicationId: string;
  queryGameListWebhook: string;
  queryGameDetailWebhook: string;
  queryCpKycWebhook: string;
  accessToken: string;
};

/** The three webhooks of group B. Every method throws WebhookError and nothing else. */
export type WebhookClient = {
  /** Section 4.4. The elements of `list` are not validated: one invalid row must not fail the page. */
  queryGameList(
    target: WebhookTarget,
    request: QueryGameListRequest,
    signal: AbortSignal,
  ): Promise<ApplicationGameList>;
  /** Section 4.5: null if there is no data. The detail has the `game_id` of the request. */
  queryGameDetail(
    target: WebhookTarget,
    request: QueryGameDetailRequest,
    signal: AbortSignal,
  ): Promise<ApplicationGameDetail | null>;
  /** Section 4.3: null if there is no data. Its errors contain paths and codes, never a value or a `ret_msg`. */
  queryCpKyc(target: WebhookTarget, signal: AbortSignal): Promise<KycRecord | null>;
  /** Destroys every connection. */
  close(): void;
};

const WEBHOOKS = {
  query_game_list: 'queryGameListWebhook',
  query_game_detail: 'queryGameDetailWebhook',
  query_cp_kyc: 'queryCpKycWebhook',
} as const satisfies Record<Operation, keyof WebhookTarget>;

export const webhookUrl = (target: WebhookTarget, operation: Operation): string =>
  target[WEBHOOKS[operation]];

const gameDetailOrNull = applicationGameDetailSchema.nullable();
const kycRecordOrNull = kycRecordSchema.nullable();

/**
 * Makes every call to an application (design, sections 5 and 6). A request goes through http-post.ts, which checks the
 * address (egress.ts) and bounds time and bytes; the response through read-response.ts, which validates `data`.
 * Create one client per process and `close` it at the end.
 */
export const createWebhookClient = (options: HttpPostOptions): WebhookClient => {
  const http = createHttpPost(options);

  const call = async (
    operation: Operation,
    target: WebhookTarget,
    request: object,
    signal: AbortSignal,
  ): Promise<unknown> => {
    const { accessToken } = target;
    const url = webhookUrl(target, operation);
    const maxBytes = MAX_BODY_BYTES[operation];
    const response = await http.post({ url, accessToken, body: JSON.stringify(request), maxBytes, signal });
    return readEnvelope(response, { maxBytes, accessToken, keepRetMsg: operation !== 'query_cp_kyc' });
  };

  return {
    queryGameList: async (target, { page_num, page_size }, signal) =>
      readData(
        applicationGameListSchema,
        await call('query_game_list', target, { page_num, page_size }, signal),
      ),

    queryGameDetail: async (target, { game_id }, signal) => {
      const data = await call('query_game_detail', target, { game_id }, signal);
      const detail = readData(gameDetailOrNull, data);
      if (detail !== null && detail.game_id !== game_id) {
        throw new WebhookError('invalid_data', 'data is the detail of another game', {
          reasons: [{ path: 'game_id', code: 'mismatch' }],
        });
      }
      return detail;
    },

    queryCpKyc: async (target, signal) =>
      readData(kycRecordOrNull, await call('query_cp_kyc', target, {}, signal)),

    close: http.close,
  };
};
