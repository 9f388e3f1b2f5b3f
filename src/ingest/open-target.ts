import type { ApplicationRow } from '#db/queries/applications.ts';
import { openAccessToken } from '#src/sealing/access-token.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';
import type { WebhookTarget } from '#src/webhooks/client.ts';

/** Opened tokens kept in memory: a key service must not be asked for every page. */
const CACHE_MAX = 10_000;

/**
 * Turn an application's row into what the webhooks' client calls, its access token opened. A token is opened
 * once as long as its sealed form stays the same.
 */
export const createTargetOpener = (
  keys: KeyRing,
): ((application: ApplicationRow) => Promise<WebhookTarget>) => {
  const opened = new Map<string, { sealed: string; token: string }>();
  return async (application) => {
    const { application_id, access_token } = application;
    const sealed = access_token === null ? '' : Buffer.from(access_token).toString('base64');
    let known = opened.get(application_id);
    if (known?.sealed !== sealed) {
      known = { sealed, token: await openAccessToken(keys, application) };
      if (opened.size >= CACHE_MAX) opened.clear();
      opened.set(application_id, known);
    }
    return {
      applicationId: application_id,
      queryGameListWebhook: application.query_game_list_webhook,
      queryGameDetailWebhook: application.query_game_detail_webhook,
      queryCpKycWebhook: application.query_cp_kyc_webhook,
      accessToken: known.token,
    };
  };
};
