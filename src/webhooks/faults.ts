import { RequestError, TimeoutError } from 'got';
import { RETRY_AFTER_MAX_MS } from '#src/webhooks/bounds.ts';
import { NO_ALLOWED_ADDRESS } from '#src/webhooks/egress.ts';
import { WebhookError, type WebhookErrorCode } from '#src/webhooks/errors.ts';

const NAME_NOT_FOUND = /^(?:ENOTFOUND|ENODATA|EAI_)/;
const CODE_FORM = /^[A-Z][A-Z0-9_]{2,63}$/;

/** The code of the first address tried, when a name has several; never text, which could hold anything. */
const codeOf = ({ code }: RequestError): string => (CODE_FORM.test(code) ? code : 'unknown');

const classify = (
  error: RequestError,
  code: string,
  secure: boolean,
  answered: boolean,
): WebhookErrorCode => {
  if (code === NO_ALLOWED_ADDRESS) return 'forbidden_address';
  if (error instanceof TimeoutError && error.event === 'request') return 'timeout';
  if (answered || code.startsWith('HPE_')) return 'connection_lost';
  if (NAME_NOT_FOUND.test(code)) return 'name_not_found';
  const { connect, secureConnect } = error.timings ?? {};
  // By phase, not by a list of OpenSSL's codes: the connection stood, the handshake never ended.
  if (secure && connect !== undefined && secureConnect === undefined) return 'tls_failed';
  return 'connect_failed';
};

const WHAT: Partial<Record<WebhookErrorCode, string>> = {
  forbidden_address: 'its name resolves to no address we may dial',
  timeout: 'no whole answer within the deadline',
  connection_lost: 'the connection broke before the answer was whole, or it is not HTTP',
  name_not_found: 'its name does not resolve',
  tls_failed: 'the TLS handshake or the certificate failed',
  connect_failed: 'no connection',
};

/**
 * The failure of an exchange, told again in our own words: got's error carries the request with its bearer
 * token, so nothing of it travels on but its class, its code and the phase it failed in.
 *
 * @param secure whether the address is https
 * @param answered whether an answer had begun
 */
export const toWebhookError = (thrown: unknown, secure: boolean, answered: boolean): WebhookError => {
  if (!(thrown instanceof RequestError)) return new WebhookError('connect_failed', 'no connection (unknown)');
  const nodeCode = codeOf(thrown);
  const code = classify(thrown, nodeCode, secure, answered);
  return new WebhookError(code, `${WHAT[code]} (${nodeCode})`);
};

/**
 * A Retry-After header (RFC 9110, section 10.2.3) in milliseconds from now: seconds or an HTTP date, clamped
 * to `RETRY_AFTER_MAX_MS`; undefined when there is none or it says neither.
 */
export const retryAfterMs = (header: string | undefined, nowMs: number): number | undefined => {
  if (header === undefined) return undefined;
  const text = header.trim();
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), RETRY_AFTER_MAX_MS);
};
