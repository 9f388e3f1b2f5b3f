import { RETRY_AFTER_MAX_MS } from '#src/webhooks/bounds.ts';
import { NO_ALLOWED_ADDRESS } from '#src/webhooks/egress.ts';
import { WebhookError, type WebhookErrorCode } from '#src/webhooks/errors.ts';

/** What is known of a call that failed on its way. */
export type TransportFault = {
  /** Node's code: of the first address tried, when a name has several. */
  nodeCode: string | undefined;
  /** The whole call took longer than its deadline. */
  late: boolean;
  /** An answer had begun. */
  answered: boolean;
  /** The connection stood, its TLS handshake had not ended. */
  inHandshake: boolean;
};

const NAME_NOT_FOUND = /^(?:ENOTFOUND|ENODATA|EAI_)/;
/** Never text, which could hold anything. */
const CODE_FORM = /^[A-Z][A-Z0-9_]{2,63}$/;

const classify = (code: string, { late, answered, inHandshake }: TransportFault): WebhookErrorCode => {
  if (code === NO_ALLOWED_ADDRESS) return 'forbidden_address';
  if (late) return 'timeout';
  if (answered || code.startsWith('HPE_')) return 'connection_lost';
  if (NAME_NOT_FOUND.test(code)) return 'name_not_found';
  // By phase, not by a list of OpenSSL's codes.
  return inHandshake ? 'tls_failed' : 'connect_failed';
};

const WHAT: Partial<Record<WebhookErrorCode, string>> = {
  forbidden_address: 'its name resolves to no address we may dial',
  timeout: 'no whole answer within the deadline',
  connection_lost: 'the connection broke before the answer was whole, or it is not HTTP',
  name_not_found: 'its name does not resolve',
  tls_failed: 'the TLS handshake or the certificate failed',
  connect_failed: 'no connection',
};

/** The failure of an exchange in our own words: nothing of the error that told of it travels on but its code. */
export const transportFault = (fault: TransportFault): WebhookError => {
  const nodeCode = CODE_FORM.test(fault.nodeCode ?? '') ? (fault.nodeCode ?? '') : 'unknown';
  const code = classify(nodeCode, fault);
  return new WebhookError(code, `${WHAT[code]} (${nodeCode})`);
};

export const aborted = (): WebhookError => new WebhookError('aborted', 'the call was ended from our side');

export const isRedirect = (status: number): boolean => status >= 300 && status < 400;

export const redirected = (status: number): WebhookError =>
  new WebhookError('redirect', `the answer is a redirect (${status}): never followed`, { status });

/**
 * A Retry-After header (RFC 9110, section 10.2.3) in milliseconds from now: seconds or an HTTP date, clamped
 * to `RETRY_AFTER_MAX_MS`; undefined when there is none or it says neither.
 */
export const retryAfterMs = (header: string | undefined, nowMs: number): number | undefined => {
  if (header === undefined) return undefined;
  const text = header.trim();
  // JavaScript takes "-1" and "1.5" for dates too; one of HTTP names its month.
  const date = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1_000 : date - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), RETRY_AFTER_MAX_MS);
};
