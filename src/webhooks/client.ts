import type { z } from 'zod';
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
import { aborted, CallError, isCallError } from '#src/egress/errors.ts';
import { createHttpPost } from '#src/egress/http-post.ts';
import type { HttpPostOptions } from '#src/egress/post.ts';
import { CALL_TIMEOUT_MS, MAX_BODY_BYTES, WIRE } from '#src/rules/budgets.ts';
import { type AnswerMemory, createAnswerMemory } from '#src/webhooks/answer-memory.ts';
import { createProcessPace, createStopwatch, type ProcessPace } from '#src/webhooks/pace.ts';
import { readData, readEnvelope } from '#src/webhooks/read-response.ts';

/** Addresses and token of one application. */
export type WebhookTarget = Record<`${Operation}_webhook`, string> & {
  application_id: string;
  accessToken: string;
};

/** The three webhooks of the interface document (group B). A query throws CallError and nothing else. */
export type WebhookClient = {
  /** Section 4.4. The elements of `list` are not validated, because one invalid row must not fail the page. */
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

const gameDetailOrNull = applicationGameDetailSchema.nullable();
const kycRecordOrNull = kycRecordSchema.nullable();

/**
 * Creates the client that jobs call webhooks with. http-post.ts sends the request: it checks the address (egress.ts) and
 * bounds time and bytes. read-response.ts reads the response and validates `data`. Create one client per process, and `close`
 * it at the end.
 *
 * A response of more than `MEMORY.ordinaryBytes` waits until the process has memory for it (answer-memory.ts). After a
 * response that is large, or that takes this process long to read, the application's next call is delayed (pace.ts).
 */
export const createWebhookClient = (
  options: HttpPostOptions & { memory?: AnswerMemory; pace?: ProcessPace },
): WebhookClient => {
  const http = createHttpPost(options);
  const memory = options.memory ?? createAnswerMemory();
  const pace = options.pace ?? createProcessPace();
  const { callTimeoutMs = CALL_TIMEOUT_MS } = options;

  const call = async <Schema extends z.ZodType>(
    operation: Operation,
    schema: Schema,
    target: WebhookTarget,
    request: object,
    signal: AbortSignal,
  ): Promise<z.infer<Schema>> => {
    const { accessToken, application_id: applicationId, [`${operation}_webhook` as const]: url } = target;
    const maxBytes = MAX_BODY_BYTES[operation];
    const keepRetMsg = operation !== 'query_cp_kyc';
    const body = JSON.stringify(request);
    await pace.wait(applicationId, signal);
    const { admit, release } = memory.createAdmission(applicationId, maxBytes);
    const watch = createStopwatch();
    let bytes = 0;
    let handshakeMs = 0;
    const charge = (size: number) => {
      bytes = size;
    };
    const meter = {
      // http-post.ts makes a CallError of an abort and of its deadline itself; read-json.ts does not.
      admitLarge: () =>
        admit(AbortSignal.any([signal, AbortSignal.timeout(callTimeoutMs)])).catch(() => {
          if (signal.aborted) throw aborted();
          throw new CallError('timeout', `no memory to decompress the response within ${callTimeoutMs} ms`);
        }),
      charge,
      time: watch.time,
    };
    // `http.post` counts what arrives here.
    const traffic = { bytes: 0, pieces: 0 };
    try {
      const response = await http.post({
        url,
        accessToken,
        body,
        maxBytes,
        admitLarge: admit,
        traffic,
        signal,
      });
      const data = await readEnvelope(response, { maxBytes, accessToken, keepRetMsg, meter });
      return watch.time(() => readData(schema, data));
    } catch (error) {
      // The connection exceeded a limit of `WIRE`. Not all that it received is in `traffic` (session tickets are not), so
      // the most that a call may receive is charged.
      if (bytes === 0 && isCallError(error) && error.code === 'body_too_large') bytes = WIRE.bytes;
      if (isCallError(error) && error.handshakeFailed) handshakeMs = WIRE.handshakeMs;
      throw error;
    } finally {
      release();
      bytes = Math.max(bytes, traffic.bytes);
      pace.charge(applicationId, { bytes, ms: watch.ms() + traffic.pieces * WIRE.pieceMs + handshakeMs });
    }
  };

  return {
    queryGameList: (target, { page_num, page_size }, signal) =>
      call('query_game_list', applicationGameListSchema, target, { page_num, page_size }, signal),

    queryGameDetail: async (target, { game_id }, signal) => {
      const detail = await call('query_game_detail', gameDetailOrNull, target, { game_id }, signal);
      if (detail !== null && detail.game_id !== game_id) {
        throw new CallError('invalid_data', 'data is the detail of another game', {
          reasons: [{ path: 'game_id', code: 'mismatch' }],
        });
      }
      return detail;
    },

    queryCpKyc: (target, signal) => call('query_cp_kyc', kycRecordOrNull, target, {}, signal),

    close: http.close,
  };
};
