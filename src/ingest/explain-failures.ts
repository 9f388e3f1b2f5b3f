import type { FetchedDetails } from '#src/ingest/fetch-details.ts';
import type { WebhookError } from '#src/webhooks/errors.ts';

const REASONS_SHOWN = 3;

/** One failed call in a few words: a code, where in the answer, a status, and what the application itself said. */
export const explainWebhookError = (error: WebhookError): string => {
  const parts: string[] = [error.code];
  const reasons = error.reasons
    .slice(0, REASONS_SHOWN)
    .map(({ path, code }) => (path === '' ? code : `${path}: ${code}`));
  if (reasons.length > 0) parts.push(`(${reasons.join(', ')})`);
  if (error.status !== undefined && error.code !== 'ret_code') parts.push(`HTTP ${error.status}`);
  if (error.retCode !== undefined) parts.push(String(error.retCode));
  if (error.retMsg) parts.push(`"${error.retMsg}"`);
  return parts.join(' ');
};

/** What kept a batch's calls from their answers, by code: `timeout 30, http_status 7`. */
export const explainPassing = (fetched: FetchedDetails): string => {
  const unreached = fetched.invalid.filter(({ reached }) => !reached).map(({ kind }) => kind);
  const counts = new Map<string, number>();
  for (const code of [...fetched.passing.map(({ error }) => error.code), ...unreached])
    counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts].map(([code, count]) => `${code} ${count}`).join(', ');
};
