import { WAITING } from '#src/rules/waiting.ts';

/**
 * Reads Retry-After (RFC 9110, section 10.2.3) of a response.
 * @returns milliseconds from now, clamped; undefined unless the status is 429 or 503 and the header can be read
 */
export const readRetryAfterMs = ({
  status,
  retryAfter,
}: {
  status: number;
  retryAfter: string | undefined;
}): number | undefined => {
  if (retryAfter === undefined || (status !== 429 && status !== 503)) return undefined;
  const text = retryAfter.trim();
  // Date.parse accepts "-1" and "1.5". An HTTP date names its month.
  const date = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1_000 : date - Date.now();
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), WAITING.retryAfterMaxMs);
};
