import { quote } from '#src/check/quote.ts';
import type { Call } from '#src/check/session.ts';
import { KYC_SEALED_FIELDS } from '#src/contract/application.ts';
import { HIDDEN } from '#src/kyc/mask.ts';

const RESPONSE_MAX = 400;

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
};

/**
 * A KYC record with its texts hidden and every other value replaced by its type, because reports are stored, and shown to
 * more than officers.
 */
const maskData = (data: unknown): unknown => {
  if (data === null || data === undefined) return data;
  if (typeOf(data) !== 'object') return `(${typeOf(data)})`;
  const record = data as Record<string, unknown>;
  const mask = (field: string) => {
    const value = record[field];
    if (value === undefined || value === null) return value;
    return typeof value === 'string' ? value && HIDDEN : `(${typeOf(value)})`;
  };
  return Object.fromEntries(['cp_id', ...KYC_SEALED_FIELDS].map((field) => [field, mask(field)]));
};

/** A KYC response with only the fields of the document, and without its `ret_msg`, which may quote a value. */
const maskKycResponse = (json: unknown): unknown => {
  if (typeOf(json) !== 'object') return `(${typeOf(json)})`;
  const { ret_code, ret_msg, data } = json as Record<string, unknown>;
  const orType = (value: unknown, isShown: boolean) =>
    value === undefined || isShown ? value : `(${typeOf(value)})`;
  return {
    ret_code: orType(ret_code, typeof ret_code === 'number'),
    ret_msg: orType(ret_msg, ret_msg === 'success'),
    data: maskData(data),
  };
};

/** The request in one line. */
export const describeRequest = ({ operation, body, credential }: Call): string =>
  `POST ${operation} ${JSON.stringify(body)} with ${credential}`;

/** The response in one line of at most 400 characters, without the token, which an application may echo. */
export const describeResponse = (call: Call, accessToken: string): string => {
  const { status, response, operation } = call;
  const head = status === undefined ? '' : `HTTP ${status} `;
  if (!('json' in response)) return `${head}${response.code}: ${response.details ?? response.message}`;
  const json = operation === 'query_cp_kyc' ? maskKycResponse(response.json) : response.json;
  return head + quote(JSON.stringify(json) ?? '', accessToken, RESPONSE_MAX);
};
