import type { Database } from '#db/client.ts';
import { readAddressLifetimeMs } from '#db/queries/addresses.ts';
import type { ApplicationRow } from '#db/queries/applications.ts';
import { findEventWebhook } from '#db/queries/event-webhooks.ts';
import { formatDuration } from '#src/lib/duration.ts';
import { explainShortAddresses, formatLifetime } from '#src/rules/address-lifetime.ts';

/** An application as commands print it: without its access token. */
export const toApplicationDocument = (row: ApplicationRow) => ({
  application_id: row.application_id,
  name: row.name,
  status: row.status,
  reason: row.pause_reason,
  failed_runs: row.failed_runs,
  failing_since: row.failing_since,
  next_attempt_at: row.next_attempt_at,
  query_game_list_webhook: row.query_game_list_webhook,
  query_game_detail_webhook: row.query_game_detail_webhook,
  query_cp_kyc_webhook: row.query_cp_kyc_webhook,
  every: formatDuration(row.every_ms),
  kyc_every: formatDuration(row.kyc_every_ms),
  detail_max_age: formatDuration(row.detail_max_age_ms),
  concurrency: row.concurrency,
  rate: row.rate,
  volatile_parameters: row.volatile_parameters,
  created_at: row.created_at,
  updated_at: row.updated_at,
});

/** The same with what is known of its addresses, and the address of its events and its health. */
export const readApplicationDocument = async (sql: Database, row: ApplicationRow) => {
  const [webhook, lastMs] = await Promise.all([
    findEventWebhook(sql, row.application_id),
    readAddressLifetimeMs(sql, row.application_id),
  ]);
  return {
    ...toApplicationDocument(row),
    addresses_last: lastMs === null ? null : formatLifetime(lastMs),
    addresses_problem: explainShortAddresses(lastMs, row.every_ms),
    events_webhook: webhook?.url ?? null,
    events_status: webhook?.status ?? null,
    events_failing_since: webhook?.failing_since ?? null,
    events_reason: webhook?.off_reason ?? webhook?.last_error ?? null,
    events_last_success_at: webhook?.last_success_at ?? null,
  };
};
