import type { ApplicationRow } from '#db/queries/applications.ts';
import { formatDuration, formatTime } from '#src/cli/format.ts';

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
  created_at: row.created_at,
  updated_at: row.updated_at,
});

/** Why an application is paused or postponed. */
export const formatTrouble = (row: ApplicationRow): string => {
  if (row.pause_reason !== null) return row.pause_reason;
  if (row.failing_since === null) return '';
  const next = row.next_attempt_at === null ? '' : `, next attempt ${formatTime(row.next_attempt_at)}`;
  return `failing since ${formatTime(row.failing_since)} (runs: ${row.failed_runs})${next}`;
};
