import { formatReasons } from '#src/contract/format-reasons.ts';
import type { Reason } from '#src/contract/text.ts';
import type { CallError } from '#src/egress/errors.ts';
import type { FailedCall } from '#src/ingest/fetch-details.ts';

const REASONS_SHOWN = 3;

/** One failed call in a few words: its code, the fields, the status, and the application's own message. */
export const explainCallError = (error: CallError): string => {
  const parts: string[] = [error.code];
  if (error.reasons.length > 0) parts.push(`(${formatReasons(error.reasons.slice(0, REASONS_SHOWN))})`);
  if (error.status !== undefined && error.code !== 'ret_code') parts.push(`HTTP ${error.status}`);
  if (error.retCode !== undefined) parts.push(String(error.retCode));
  if (error.retMsg) parts.push(`"${error.retMsg}"`);
  return parts.join(' ');
};

const failureCode = ({ code, status, retCode, retMsg }: CallError): string => {
  if (code === 'ret_code') return `ret_code ${retCode}${retMsg ? `: ${retMsg}` : ''}`;
  return status === undefined ? code : `${code} ${status}`;
};

/** Returns what `ingest_failures` keeps of a failed call: field paths and codes, or a code and the application's own message. */
export const failureReasons = (error: CallError): Reason[] =>
  error.reasons.length > 0 ? error.reasons : [{ path: '', code: failureCode(error) }];

/** Counts calls without a usable response by code: `timeout 30, http_status 7`. Leaves out invalid responses. */
export const explainFailedCalls = (failures: readonly FailedCall[]): string => {
  const counts = new Map<string, number>();
  for (const { error } of failures)
    if (error.retryable || error.transport) counts.set(error.code, (counts.get(error.code) ?? 0) + 1);
  return [...counts].map(([code, count]) => `${code} ${count}`).join(', ');
};

/** The longest delay that the application requested (Retry-After), in milliseconds. */
export const longestRetryAfter = (failures: readonly FailedCall[]): number | undefined => {
  const waits = failures.flatMap(({ error }) => error.retryAfterMs ?? []);
  return waits.length === 0 ? undefined : Math.max(...waits);
};
