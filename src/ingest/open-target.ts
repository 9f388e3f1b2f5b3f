import { LRUCache } from 'lru-cache';
import type { CalledApplication } from '#db/queries/run-steps.ts';
import { openAccessToken } from '#src/sealing/access-token.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';
import type { WebhookTarget } from '#src/webhooks/client.ts';

/** Opened tokens in memory: without this cache every page would call the key service. */
const CACHE_MAX = 10_000;

/** An application's webhooks and its sealed token. */
export type TargetRow = Omit<CalledApplication, 'name' | 'every_ms' | 'kyc_every_ms'>;

/** Turn an application's row into the target of webhook calls, its access token opened. */
export const createTargetOpener = (keys: KeyRing): ((application: TargetRow) => Promise<WebhookTarget>) => {
  const opened = new LRUCache<string, string>({ max: CACHE_MAX });
  return async (application) => {
    const { application_id, access_token } = application;
    const sealed = `${application_id} ${Buffer.from(access_token ?? []).toString('base64')}`;
    const accessToken = opened.get(sealed) ?? (await openAccessToken(keys, application));
    opened.set(sealed, accessToken);
    return {
      applicationId: application_id,
      queryGameListWebhook: application.query_game_list_webhook,
      queryGameDetailWebhook: application.query_game_detail_webhook,
      queryCpKycWebhook: application.query_cp_kyc_webhook,
      accessToken,
    };
  };
};
