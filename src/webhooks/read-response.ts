import type { z } from 'zod';
import { envelopeSchema, RET_CODE_SUCCESS } from '#src/contract/envelope.ts';
import { reasonsOf } from '#src/contract/text.ts';
import { CallError, isCallError } from '#src/egress/errors.ts';
import type { PostResponse } from '#src/egress/post.ts';
import { readRetryAfterMs } from '#src/egress/retry-after.ts';
import { replaceUnprintable } from '#src/lib/printable.ts';
import { RET_MSG_MAX } from '#src/rules/budgets.ts';
import { hideToken } from '#src/webhooks/hide-token.ts';
import { type Meter, readJson } from '#src/webhooks/read-json.ts';

/** A `ret_msg` that is safe to store and show: one line, 200 characters, without the access token. */
const sanitizeRetMsg = (retMsg: string, accessToken: string): string => {
  const text = hideToken(retMsg, accessToken).slice(0, 2 * RET_MSG_MAX);
  return [...replaceUnprintable(text, ' ').toWellFormed()].slice(0, RET_MSG_MAX).join('');
};

export type EnvelopeOptions = {
  maxBytes: number;
  accessToken: string;
  /** False for KYC, because a `ret_msg` could quote a value of the record. */
  keepRetMsg: boolean;
  meter?: Meter;
};

/**
 * Reads the `data` of a response, which `readData` validates. The HTTP status matters only without an envelope
 * (sections 2.1 and 7).
 *
 * @throws CallError `ret_code`, `http_status`, `not_envelope`, `aborted`, `timeout`, and as `readJson`
 */
export const readEnvelope = async (response: PostResponse, options: EnvelopeOptions): Promise<unknown> => {
  const { maxBytes, accessToken, keepRetMsg, meter } = options;
  const { status } = response;
  const isError = status >= 300;
  const statusError = () =>
    new CallError('http_status', `HTTP status ${status}, without an envelope`, {
      status,
      retryAfterMs: readRetryAfterMs(response),
    });

  let json: unknown;
  try {
    json = await readJson(response, maxBytes, meter);
  } catch (error) {
    const isUnread = isCallError(error) && (error.code === 'aborted' || error.code === 'timeout');
    throw isError && !isUnread ? statusError() : error;
  }
  const envelope = envelopeSchema.safeParse(json);
  if (!envelope.success) {
    if (isError) throw statusError();
    const reasons = reasonsOf(envelope.error);
    throw new CallError('not_envelope', 'the response is not the envelope of section 2.1', {
      status,
      reasons,
    });
  }
  const { ret_code: retCode, ret_msg, data } = envelope.data;
  if (retCode === RET_CODE_SUCCESS) return data;
  const retMsg = keepRetMsg ? sanitizeRetMsg(ret_msg, accessToken) : undefined;
  throw new CallError(
    'ret_code',
    `the application reports ret_code ${retCode}${retMsg === undefined ? '' : `: ${retMsg}`}`,
    { status, retCode, retMsg, retryAfterMs: readRetryAfterMs(response) },
  );
};

/**
 * `data` as the operation's section defines it.
 *
 * @throws CallError `invalid_data` with paths and codes, never with a value
 */
export const readData = <Schema extends z.ZodType>(schema: Schema, data: unknown): z.infer<Schema> => {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  throw new CallError('invalid_data', 'data does not match the interface document', {
    reasons: reasonsOf(parsed.error),
  });
};
