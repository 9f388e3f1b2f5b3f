import type { Operation } from '#src/contract/words.ts';
import { type CallErrorCode, isCallError } from '#src/egress/errors.ts';
import { defineChannel } from '#src/lib/channel.ts';
import { inSpan } from '#src/tracing/span.ts';
import type { WebhookClient, WebhookTarget } from '#src/webhooks/client.ts';

/** A webhook call that ended. */
export type WebhookCall = {
  application_id: string;
  operation: Operation;
  outcome: 'ok' | CallErrorCode;
  seconds: number;
};

/** Publishes each call of an observed client: metrics subscribe. */
export const webhookCalled = defineChannel<WebhookCall>('catalogue.webhook-called');

const observe = <Result>(
  operation: Operation,
  { application_id }: WebhookTarget,
  call: () => Promise<Result>,
): Promise<Result> =>
  inSpan(operation, { 'catalogue.application_id': application_id }, async () => {
    const start = performance.now();
    const publish = (outcome: WebhookCall['outcome']) =>
      webhookCalled.publish({
        application_id,
        operation,
        outcome,
        seconds: (performance.now() - start) / 1_000,
      });
    try {
      const result = await call();
      publish('ok');
      return result;
    } catch (error) {
      if (isCallError(error)) publish(error.code);
      throw error;
    }
  });

/** Reports each call of the client to `webhookCalled`, and as a span of the current trace. */
export const observeWebhooks = (client: WebhookClient): WebhookClient => ({
  queryGameList: (target, request, signal) =>
    observe('query_game_list', target, () => client.queryGameList(target, request, signal)),
  queryGameDetail: (target, request, signal) =>
    observe('query_game_detail', target, () => client.queryGameDetail(target, request, signal)),
  queryCpKyc: (target, signal) => observe('query_cp_kyc', target, () => client.queryCpKyc(target, signal)),
  close: () => client.close(),
});
