import { LRUCache } from 'lru-cache';
import type { CalledApplication } from '#db/queries/run-steps.ts';
import { type IdentityRule, identityRule } from '#src/rules/address-identity.ts';
import { openAccessToken } from '#src/sealing/access-token.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';
import type { WebhookTarget } from '#src/webhooks/client.ts';

/** Opened tokens in memory, because without this cache every page would call the key service. */
const CACHE_MAX = 10_000;

/** An application's webhooks and its sealed token. */
export type TargetRow = Omit<CalledApplication, 'name' | 'every_ms' | 'kyc_every_ms'>;

/** Where to call an application, and how its addresses are compared. */
export type ApplicationTarget = WebhookTarget & { rule: IdentityRule };

/** Turns an application's row into the target of webhook calls, with its access token opened. */
export const createTargetOpener = (
  keys: KeyRing,
): ((application: TargetRow) => Promise<ApplicationTarget>) => {
  const opened = new LRUCache<string, string>({ max: CACHE_MAX });
  return async (application) => {
    const { application_id, query_game_list_webhook, query_game_detail_webhook, query_cp_kyc_webhook } =
      application;
    const target = {
      application_id,
      query_game_list_webhook,
      query_game_detail_webhook,
      query_cp_kyc_webhook,
    };
    // The addresses are a part of the key, so that a token that was opened for one address is not sent to another.
    const sealed = Buffer.from(application.access_token ?? []).toString('base64');
    const key = JSON.stringify([target, sealed]);
    const accessToken = opened.get(key) ?? (await openAccessToken(keys, application));
    opened.set(key, accessToken);
    return { ...target, accessToken, rule: identityRule(application.volatile_parameters) };
  };
};
