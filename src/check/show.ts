import type { Call } from '#src/check/session.ts';
import { KYC_SEALED_FIELDS } from '#src/contract/application.ts';
import { maskValue } from '#src/kyc/mask.ts';

const SHOWN_MAX = 400;

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

/** A KYC record with every value masked: text as everywhere else, anything else by its type alone. */
const maskData = (data: unknown): unknown => {
  if (data === null || data === undefined) return data;
  if (typeOf(data) !== 'object') return `(${typeOf(data)})`;
  const record = data as Record<string, unknown>;
  const shown = (field: string) => {
    const value = record[field];
    if (value === undefined || value === null) return value;
    if (typeof value !== 'string') return `(${typeOf(value)})`;
    return maskValue(KYC_SEALED_FIELDS.find((sealed) => sealed === field) ?? 'cp_name', value);
  };
  return Object.fromEntries(['cp_id', ...KYC_SEALED_FIELDS].map((field) => [field, shown(field)]));
};

/** Only what the document names is shown of a KYC answer, and no `ret_msg`, which may quote a value. */
const maskAnswer = (json: unknown): unknown => {
  if (typeOf(json) !== 'object') return `(${typeOf(json)})`;
  const { ret_code, ret_msg, data } = json as Record<string, unknown>;
  const code = typeof ret_code === 'number' ? ret_code : `(${typeOf(ret_code)})`;
  return {
    ret_code: code,
    ret_msg: ret_msg === 'success' ? ret_msg : `(${typeOf(ret_msg)})`,
    data: maskData(data),
  };
};

/** What was sent, in one line; the token only by what it is. */
export const showSent = ({ operation, body, credential }: Call): string => {
  const bearer = { token: 'its token', 'wrong token': 'a wrong token', 'no token': 'no token' }[credential];
  return `POST ${operation} ${JSON.stringify(body)} with ${bearer}`;
};

/** What came, in one line of at most 400 characters. An application may echo the token: it is not shown. */
export const showCame = (call: Call, accessToken: string): string => {
  const { status, answer, operation } = call;
  const head = status === undefined ? '' : `HTTP ${status} `;
  if (!('json' in answer)) return `${head}${answer.code}: ${answer.message}`;
  const json = operation === 'query_cp_kyc' ? maskAnswer(answer.json) : answer.json;
  const inJson = JSON.stringify(accessToken).slice(1, -1);
  const characters = [...(JSON.stringify(json) ?? '').replaceAll(inJson, '[access token]')];
  const text =
    characters.length > SHOWN_MAX ? `${characters.slice(0, SHOWN_MAX).join('')}…` : characters.join('');
  return head + text;
};
