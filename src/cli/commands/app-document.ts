import type { Database } from '#db/client.ts';
import { readAddressLifetimeMs } from '#db/queries/addresses.ts';
import type { ApplicationRow } from '#db/queries/applications.ts';
import { findEventWebhook } from '#db/queries/event-webhooks.ts';
import { toApplicationDocument } from '#src/lists/applications.ts';
import { readStanding } from '#src/review/standing.ts';
import { explainShortAddresses, formatLifetime } from '#src/rules/address-lifetime.ts';

/**
 * An application as commands print it: also how long its addresses last, and where its events are sent, with the health of
 * that address.
 */
export const readApplicationDocument = async (sql: Database, row: ApplicationRow) => {
  const [webhook, lastMs, { hold, verdict, obstacle }] = await Promise.all([
    findEventWebhook(sql, row.application_id),
    readAddressLifetimeMs(sql, row.application_id),
    readStanding(sql, row.application_id),
  ]);
  return {
    ...toApplicationDocument(row),
    held_at: hold?.held_at ?? null,
    held_by: hold?.held_by ?? null,
    held_because: hold?.reason ?? null,
    verdict: verdict?.state === 'standing' ? verdict.verdict : null,
    verdict_expires_at: verdict?.state === 'standing' ? verdict.expires_at : null,
    pass_obstacle: obstacle,
    addresses_last: lastMs === null ? null : formatLifetime(lastMs),
    addresses_problem: explainShortAddresses(lastMs, row.every_ms),
    events_webhook: webhook?.url ?? null,
    events_status: webhook?.status ?? null,
    events_failing_since: webhook?.failing_since ?? null,
    events_reason: webhook?.off_reason ?? webhook?.last_error ?? null,
    events_last_success_at: webhook?.last_success_at ?? null,
  };
};
