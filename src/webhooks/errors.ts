import type { Reason } from '#src/contract/reasons.ts';

/** What went wrong with one call, as a union that callers switch on; never message text. */
export type WebhookErrorCode =
  /** The address is not one we may connect to, or not a URL of an allowed scheme (design, section 6). */
  | 'forbidden_address'
  /** DNS gave no address. */
  | 'name_not_found'
  /** No connection: refused, unreachable, reset before an answer, or not within the connect limit. */
  | 'connect_failed'
  /** The TLS handshake or the certificate failed. */
  | 'tls_failed'
  /** The whole call did not end within its deadline (a trickling body counts). */
  | 'timeout'
  /** The connection broke in the middle of the answer, or what came is not HTTP. */
  | 'connection_lost'
  /** The answer was a redirect, which is never followed (design, section 5, decision 15). */
  | 'redirect'
  /** No envelope, and a status of 400 or more. */
  | 'http_status'
  /** More bytes, after decompression, than the operation's cap. */
  | 'body_too_large'
  /** Bytes that do not decompress, or a content-encoding we did not ask for (several layers among them). */
  | 'not_decodable'
  /** Bytes that are not UTF-8. */
  | 'not_utf8'
  /** Text that is not JSON. */
  | 'not_json'
  /** JSON nested deeper than we read. */
  | 'too_deep'
  /** JSON that is not the envelope of section 2.1. */
  | 'not_envelope'
  /** A non-zero ret_code (section 7.2): the application reports a failure of its own. */
  | 'ret_code'
  /** `data` is not what the operation's section says. */
  | 'invalid_data'
  /** Our own signal ended the call: shutdown or a lost lock. */
  | 'aborted';

/** Passing faults: the same call may succeed later, so BullMQ may try it again (the only retry layer). */
const RETRYABLE: ReadonlySet<WebhookErrorCode> = new Set([
  'name_not_found',
  'connect_failed',
  'tls_failed',
  'timeout',
  'connection_lost',
  'ret_code',
  'aborted',
]);

/** Faults of the way to the application, as opposed to what it answered. */
const TRANSPORT: ReadonlySet<WebhookErrorCode> = new Set([
  'forbidden_address',
  'name_not_found',
  'connect_failed',
  'tls_failed',
  'timeout',
  'connection_lost',
  'redirect',
  'http_status',
]);

const RETRYABLE_STATUS: ReadonlySet<number> = new Set([408, 425, 429]);

export type WebhookErrorDetails = {
  /** HTTP status, when an answer came. */
  status?: number | undefined;
  /** The application's own code, for `ret_code`. */
  retCode?: number | undefined;
  /** Its message, cut to 200 characters; never for KYC (design, section 5, decision 14). */
  retMsg?: string | undefined;
  /** Field paths and codes, for `invalid_data` and `not_envelope`. */
  reasons?: Reason[] | undefined;
  /** How long the application asked us to wait (Retry-After), in milliseconds, clamped. */
  retryAfterMs?: number | undefined;
};

/**
 * The one error that leaves `webhooks/`. It is written by us from codes and numbers alone: no `cause`, no
 * URL with credentials, no header, no body. A got error carries the bearer token; it never travels on.
 */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  readonly code: WebhookErrorCode;
  readonly status: number | undefined;
  readonly retCode: number | undefined;
  readonly retMsg: string | undefined;
  readonly reasons: Reason[];
  readonly retryAfterMs: number | undefined;

  constructor(code: WebhookErrorCode, message: string, details: WebhookErrorDetails = {}) {
    super(message);
    this.code = code;
    this.status = details.status;
    this.retCode = details.retCode;
    this.retMsg = details.retMsg;
    this.reasons = details.reasons ?? [];
    this.retryAfterMs = details.retryAfterMs;
  }

  /** May the same call succeed later? */
  get retryable(): boolean {
    if (this.code === 'http_status') {
      const status = this.status ?? 0;
      return status >= 500 || RETRYABLE_STATUS.has(status);
    }
    return RETRYABLE.has(this.code);
  }

  /** Did the call fail on its way, rather than in what was answered? */
  get transport(): boolean {
    return TRANSPORT.has(this.code);
  }
}

export const isWebhookError = (error: unknown): error is WebhookError => error instanceof WebhookError;
