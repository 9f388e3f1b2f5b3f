import type { Reason } from '#src/contract/text.ts';

/**
 * What can go wrong with one call. `transport`: the call failed before it had a readable response.
 * `retryable`: the same call may succeed later, so BullMQ retries it (the only retry layer). `http_status` depends
 * on the status; a body that cannot be read may be retried too if it may have been cut.
 */
const CODES = {
  /** The URL, or every address of its name, is forbidden (`egress.ts`). */
  forbidden_address: { transport: true, retryable: false },
  /** DNS returned no address. */
  name_not_found: { transport: true, retryable: true },
  /** Refused, unreachable, closed before a response, or not connected within the connect timeout. */
  connect_failed: { transport: true, retryable: true },
  /** The platform's proxy (`WEBHOOK_PROXY`) does not answer, or refuses its password. */
  proxy_failed: { transport: true, retryable: true },
  /** This machine opened no connection: a limit of open files, of memory or of local ports. */
  no_socket: { transport: true, retryable: true },
  /** The TLS handshake or the certificate failed. */
  tls_failed: { transport: true, retryable: true },
  /** The whole call did not end within its deadline. */
  timeout: { transport: true, retryable: true },
  /** The connection broke in the middle of the response, or the response is not HTTP. */
  connection_lost: { transport: true, retryable: true },
  /** The response is a redirect, which is not followed, because the token would travel. */
  redirect: { transport: true, retryable: false },
  /** No envelope, and a status of 300 or more. */
  http_status: { transport: true, retryable: false },
  /** More bytes than the operation's cap, before or after decompression. */
  body_too_large: { transport: false, retryable: false },
  /** Bytes that do not decompress, or a content-encoding that the request does not accept. */
  not_decodable: { transport: false, retryable: false },
  /** Bytes that are not UTF-8. */
  not_utf8: { transport: false, retryable: false },
  /** Text that is not JSON. */
  not_json: { transport: false, retryable: false },
  /** JSON nested deeper than `MAX_JSON_DEPTH`. */
  too_deep: { transport: false, retryable: false },
  /** JSON of more keys and values than `MAX_JSON_VALUES`. */
  too_many_values: { transport: false, retryable: false },
  /** JSON that is not the envelope of section 2.1. */
  not_envelope: { transport: false, retryable: false },
  /** A non-zero ret_code (section 7.2): the application reports a failure. */
  ret_code: { transport: false, retryable: true },
  /** `data` does not match the operation's section. */
  invalid_data: { transport: false, retryable: false },
  /** The caller's signal ended the call: shutdown or a lost lock. */
  aborted: { transport: false, retryable: true },
} as const satisfies Record<string, { transport: boolean; retryable: boolean }>;

/** Callers switch on the code, never on the message. */
export type CallErrorCode = keyof typeof CODES;

const isRetryableStatus = (status = 0): boolean => status >= 500 || [408, 425, 429].includes(status);

export type CallErrorDetails = {
  /** HTTP status of the response. */
  status?: number | undefined;
  /** The application's own code, for `ret_code`. */
  retCode?: number | undefined;
  /** Its message, cut to 200 characters; never for KYC, because it could quote a value. */
  retMsg?: string | undefined;
  /** Field paths and codes, for `invalid_data` and `not_envelope`; codes of what the whole response did wrong. */
  reasons?: Reason[] | undefined;
  /** The wait that Retry-After requests, in milliseconds, clamped. */
  retryAfterMs?: number | undefined;
  /** The response named no length, so its body may have been cut, and the same call may succeed later. */
  mayBeCut?: boolean | undefined;
  /** A TLS handshake began, and failed. */
  handshakeFailed?: boolean | undefined;
};

/**
 * The error of a call to a server of an application: a webhook, an event or a picture. Its message contains codes and numbers
 * only. It has no `cause`, header, body or URL, because an error of the HTTP client may carry the bearer token.
 */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly code: CallErrorCode;
  readonly status: number | undefined;
  readonly retCode: number | undefined;
  readonly retMsg: string | undefined;
  readonly reasons: Reason[];
  readonly retryAfterMs: number | undefined;
  readonly mayBeCut: boolean;
  readonly handshakeFailed: boolean;

  constructor(code: CallErrorCode, message: string, details: CallErrorDetails = {}) {
    super(message);
    this.code = code;
    this.status = details.status;
    this.retCode = details.retCode;
    this.retMsg = details.retMsg;
    this.reasons = details.reasons ?? [];
    this.retryAfterMs = details.retryAfterMs;
    this.mayBeCut = details.mayBeCut ?? false;
    this.handshakeFailed = details.handshakeFailed ?? false;
  }

  /** May the same call succeed later? */
  get retryable(): boolean {
    if (this.code === 'http_status') return isRetryableStatus(this.status);
    return this.mayBeCut || CODES[this.code].retryable;
  }

  /** Did the call fail before it had a readable response? */
  get transport(): boolean {
    return CODES[this.code].transport;
  }
}

/** The error of a call that the signal of its caller ended. */
export const aborted = (): CallError => new CallError('aborted', 'the call was cancelled');

export const isCallError = (error: unknown): error is CallError => error instanceof CallError;

/** The error of a response that is preceded by too many others. */
export const tooManyInterim = (max: number): CallError =>
  new CallError('body_too_large', `more than ${max} interim (1xx) responses came before it`);
