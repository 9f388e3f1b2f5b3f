import type { z } from 'zod';
import { envelopeSchema, RET_CODE_SUCCESS } from '#src/contract/envelope.ts';
import { reasonsOf } from '#src/contract/reasons.ts';
import { RET_MSG_MAX } from '#src/webhooks/bounds.ts';
import { WebhookError } from '#src/webhooks/errors.ts';
import { retryAfterMs } from '#src/webhooks/faults.ts';
import { decode } from '#src/webhooks/read-body.ts';
import { readJson } from '#src/webhooks/read-json.ts';
import type { Answer } from '#src/webhooks/sender.ts';

// Control characters, line separators and the marks that turn the direction of text: none may reach a terminal.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** A `ret_msg` fit to be kept and shown: one line, 200 characters, without the access token it may echo. */
const presentable = (retMsg: string, accessToken: string): string => {
  const text = retMsg.replaceAll(accessToken, '[access token]').slice(0, 2 * RET_MSG_MAX);
  return [...text.replace(UNPRINTABLE, ' ').toWellFormed()].slice(0, RET_MSG_MAX).join('');
};

export type AnswerReader = {
  maxBytes: number;
  accessToken: string;
  /** KYC alone says no: a `ret_msg` could hold a value of the record (design, section 5, decision 14). */
  keepRetMsg: boolean;
};

/** Too Many Requests, Service Unavailable: where Retry-After is heeded. */
const WAITING: ReadonlySet<number> = new Set([429, 503]);

/**
 * The `data` of an answer, as yet unread. The envelope decides (sections 2.1 and 7), whatever the HTTP status:
 * the status speaks only where there is no envelope.
 *
 * @throws WebhookError `ret_code`, `http_status`, `body_too_large`, `not_decodable`, `not_utf8`, `too_deep`, `not_json`, `not_envelope`
 */
export const readEnvelope = async (
  answer: Answer,
  { maxBytes, accessToken, keepRetMsg }: AnswerReader,
): Promise<unknown> => {
  const { status } = answer;
  // On any other status the header is no request to wait: what is wrong stays wrong (design, section 6).
  const wait = () => (WAITING.has(status) ? retryAfterMs(answer.retryAfter, Date.now()) : undefined);
  const statusError = () =>
    new WebhookError('http_status', `HTTP status ${status}, without an envelope`, {
      status,
      retryAfterMs: wait(),
    });

  let json: unknown;
  try {
    json = readJson(await decode(answer.bytes, answer.contentEncoding, maxBytes));
  } catch (error) {
    throw status >= 400 ? statusError() : error;
  }
  const envelope = envelopeSchema.safeParse(json);
  if (!envelope.success) {
    if (status >= 400) throw statusError();
    const reasons = reasonsOf(envelope.error);
    throw new WebhookError('not_envelope', 'the answer is not the envelope of section 2.1', {
      status,
      reasons,
    });
  }
  const { ret_code: retCode, ret_msg, data } = envelope.data;
  if (retCode !== RET_CODE_SUCCESS) {
    const retMsg = keepRetMsg ? presentable(ret_msg, accessToken) : undefined;
    const said = retMsg === undefined ? '' : `: ${retMsg}`;
    throw new WebhookError('ret_code', `the application reports ret_code ${retCode}${said}`, {
      status,
      retCode,
      retMsg,
      retryAfterMs: wait(),
    });
  }
  return data;
};

/**
 * `data` as its section says.
 *
 * @throws WebhookError `invalid_data` with paths and codes, never with a value
 */
export const readData = <Schema extends z.ZodType>(schema: Schema, data: unknown): z.infer<Schema> => {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  throw new WebhookError('invalid_data', 'data is not what the interface document says', {
    reasons: reasonsOf(parsed.error),
  });
};
