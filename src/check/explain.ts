/** Explains why a response has no data, and what is wrong with a field. */
import type { z } from 'zod';
import type { Call } from '#src/check/session.ts';
import { envelopeSchema, RET_CODE_SUCCESS } from '#src/contract/envelope.ts';

const EXPECTED: Record<string, string> = {
  string: 'a string',
  number: 'an integer',
  int: 'an integer',
  array: 'an array',
  object: 'an object',
};

/** The type of a JSON value, with its article. */
export const typeName = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  if (typeof value !== 'string') return `a ${typeof value}`;
  return /^\s*[[{]/.test(value) ? 'a string that holds JSON' : 'a string';
};

export const at = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[key],
    value,
  );

const bare = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '');

/** Other names for a field: section 2.3 says `game_desc`, and other interfaces have `code` and `msg`. */
const OTHER_NAMES: Record<string, string> = { game_info: 'game_desc', ret_code: 'code', ret_msg: 'msg' };

/** A missing field is compared with this many names of its object, because a response may have 100,000 names and lack every field. */
const NAMES_MAX = 100;
const namesRead = new WeakMap<object, string[]>();
const namesIn = (object: object): string[] =>
  namesRead.getOrInsertComputed(object, () => Object.keys(object).slice(0, NAMES_MAX));

/** Finds a name that differs from the missing field only in case, `_` and `-`. Such a name reveals nothing of the application. */
const findSimilarName = (object: unknown, field: string): string | undefined =>
  namesIn(Object(object ?? {})).find(
    (key) => (key.length < 2 * field.length && bare(key) === bare(field)) || key === OTHER_NAMES[field],
  );

/** Explains an issue, such as `data.total must be an integer, not a string`. @param subject names the value if the issue has no path */
export const explainIssue = (issue: z.core.$ZodIssue, value: unknown, subject: string): string => {
  const { path } = issue;
  const field = String(path.at(-1) ?? '');
  const name =
    typeof path.at(-1) === 'number' ? `an element of ${String(path.at(-2))}` : path.join('.') || subject;
  if (issue.code === 'too_big') return `${name} has more than ${issue.maximum} elements`;
  if (issue.code !== 'invalid_type') return `${name} ${issue.message}`;
  const came = at(value, path);
  if (came !== undefined)
    return `${name} must be ${EXPECTED[issue.expected] ?? issue.expected}, not ${typeName(came)}`;
  const similar = findSimilarName(at(value, path.slice(0, -1)), field);
  return `${name} is missing${similar === undefined ? '' : `, but ${similar} is there`}`;
};

/** The envelope of a response; undefined if it is not an envelope (section 2.1). */
export const envelopeOf = ({ response }: Call) =>
  'json' in response ? envelopeSchema.safeParse(response.json).data : undefined;

const HINTS: Record<number, string> = {
  404: '; is the address right?',
  405: '; the platform calls with POST',
  415: '; the platform sends Content-Type: application/json; charset=utf-8',
};

/** Does a field hold the envelope, as an object or as a text? */
const isEnvelope = (value: unknown): boolean =>
  typeof value === 'string' ? value.includes('"ret_code"') : at(value, ['ret_code']) !== undefined;

/** Names the field that holds the whole envelope. Other names may be texts of the application. */
const findWrapped = (json: unknown): string => {
  const name = ['result', 'response', 'body', 'data'].find((each) => isEnvelope(at(json, [each])));
  return name === undefined ? '' : `; ${name} has them: send no object around them`;
};

/** Explains why a response has no data; undefined for a successful envelope with data, which may be null. */
export const whyNoData = (call: Call): string | undefined => {
  const { response, status = 0, retMsg } = call;
  const http = status > 200 ? `HTTP ${status}, ` : '';
  const and = http === '' ? '' : `${http}and `;
  if (!('json' in response)) {
    const { code, message, details } = response;
    if (code === 'redirect')
      return `HTTP ${status} ${details}, and the platform follows no redirect: register the final address`;
    return `${and}${message}${details === undefined ? '' : `: ${details}`}${HINTS[status] ?? ''}`;
  }
  const { error, data: envelope } = envelopeSchema.safeParse(response.json);
  if (error !== undefined) {
    const issues = error.issues.map((issue) => explainIssue(issue, response.json, 'it'));
    return `${and}the response is not an envelope: ${issues.join('; ')}${findWrapped(response.json)}${HINTS[status] ?? ''}`;
  }
  const { ret_code, data } = envelope;
  if (ret_code !== RET_CODE_SUCCESS) {
    const message = retMsg === undefined ? '' : `, ret_msg "${retMsg}"`;
    const hint =
      data === undefined || data === null ? '' : ', and data has content: a success has ret_code 0';
    // An application that has an envelope for its 404 is at the right address.
    const cause = status === 404 ? '' : (HINTS[status] ?? '');
    return `${http}ret_code is ${ret_code}${message}${hint}${cause}`;
  }
  if (data !== undefined) return undefined;
  return call.operation === 'query_game_list'
    ? 'data is missing'
    : 'data is missing: send null if there is no data';
};

/** Does the response say that the token is not accepted? */
export const refusesToken = (call: Call): boolean => {
  const { status, retMsg = '' } = call;
  const { ret_code = RET_CODE_SUCCESS } = envelopeOf(call) ?? {};
  if (status === 401 || status === 403 || /^40[13]/.test(String(ret_code))) return true;
  return ret_code !== RET_CODE_SUCCESS && /\btoken\b|unauthori[sz]ed/i.test(retMsg);
};
