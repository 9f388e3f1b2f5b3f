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
import { createExchange, type ExchangeOptions } from '#src/webhooks/exchange.ts';
import { readData, readEnvelope } from '#src/webhooks/read-answer.ts';

/** One application, as the client needs it. */
export type WebhookTarget = {
  applicationId: string;
  queryGameListWebhook: string;
  queryGameDetailWebhook: string;
  queryCpKycWebhook: string;
  accessToken: string;
};

/** Group B, called. Every method throws WebhookError and nothing else. */
export type WebhookClient = {
  /** Section 4.4. The elements of `list` are unread: the caller validates each, so that one costs only itself. */
  queryGameList(
    target: WebhookTarget,
    request: QueryGameListRequest,
    signal: AbortSignal,
  ): Promise<ApplicationGameList>;
  /** Section 4.5: null when there is no data. The detail is that of the game asked for. */
  queryGameDetail(
    target: WebhookTarget,
    request: QueryGameDetailRequest,
    signal: AbortSignal,
  ): Promise<ApplicationGameDetail | null>;
  /** Section 4.3: null when there is no data. Its errors hold paths and codes, never a value nor a `ret_msg`. */
  queryCpKyc(target: WebhookTarget, signal: AbortSignal): Promise<KycRecord | null>;
  /** Destroys the agents and with them every idle connection. */
  close(): void;
};

const WEBHOOKS = {
  query_game_list: 'queryGameListWebhook',
  query_game_detail: 'queryGameDetailWebhook',
  query_cp_kyc: 'queryCpKycWebhook',
} as const satisfies Record<Operation, keyof WebhookTarget>;

const gameDetailOrNull = applicationGameDetailSchema.nullable();
const kycRecordOrNull = kycRecordSchema.nullable();

/**
 * The one door out to applications (design, sections 5 and 6): what is called, where it may connect, how much
 * and for how long it is read. Make one per process and `close` it at the end.
 */
export const createWebhookClient = (options: ExchangeOptions): WebhookClient => {
  const exchange = createExchange(options);

  const call = async (
    operation: Operation,
    target: WebhookTarget,
    request: object,
    signal: AbortSignal,
  ): Promise<unknown> => {
    const { accessToken } = target;
    const maxBytes = MAX_BODY_BYTES[operation];
    const post = operation === 'query_cp_kyc' ? exchange.post : exchange.postBare;
    const answer = await post({
      url: target[WEBHOOKS[operation]],
      accessToken,
      body: JSON.stringify(request),
      maxBytes,
      signal,
    });
    return readEnvelope(answer, { maxBytes, accessToken, keepRetMsg: operation !== 'query_cp_kyc' });
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

    close: exchange.close,
  };
};
