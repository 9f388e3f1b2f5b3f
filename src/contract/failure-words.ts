/** Failures of calls in words. */
import type { Reason } from '#src/contract/text.ts';

/** What each kind means to the application's developer. docs/reference.md shows them too. */
export const FAILURE_KINDS = {
  invalid_item: 'A row of the list does not match section 2.4.',
  invalid_data: 'The answer does not match the interface document.',
  ret_code: 'The webhook returned a failure.',
  http_status: 'The webhook answered with an HTTP error, and the body is not the expected JSON.',
  not_envelope: 'The answer has no ret_code and ret_msg (section 2.1).',
  not_json: 'The answer is not JSON: an error page of a proxy?',
  not_utf8: 'The answer is not UTF-8.',
  too_deep: 'The answer is nested too deeply.',
  too_many_values: 'The answer has too many keys and values.',
  not_decodable: 'The answer does not decompress, or has a compression that was not requested.',
  body_too_large: 'The answer is too large.',
  redirect: 'The address redirects: register the final one.',
  timeout: 'No complete answer within 15 seconds.',
  connect_failed: 'No connection, or it closed before the answer began.',
  connection_lost: 'The connection broke in the answer, or the answer is not valid HTTP.',
  name_not_found: 'The name of the server does not resolve.',
  tls_failed: 'The TLS handshake failed, or the certificate is not valid.',
  forbidden_address:
    "The platform's settings do not allow the address: it is not public, is plain http, or has a port that is not allowed.",
  no_detail: 'The list names this game, but its detail is null: list only games that have a detail.',
  not_requested: 'Not called: the run ended first, the server sent Retry-After, or earlier calls failed.',
  cp_id_changed: "The cp_id of the KYC record changed: the platform's operator decides.",
  too_many_games: 'The application has as many games as it may have: this one is not stored.',
} as const;

/** Faults of the platform, for which the application need not do anything. */
export const OWN_KINDS: Readonly<Record<string, string>> = {
  no_key: 'No key to seal with is set.',
  unknown_key: 'A key that sealed its token, secret or record is not set.',
  does_not_open: 'Its sealed token, secret or record does not open with the keys that are set.',
  unknown_version: 'Its token, secret or record was sealed by a later release.',
  key_service: 'The key service refused, or did not answer.',
  proxy_failed: 'The proxy of its calls does not answer, or refuses its password.',
  no_socket: 'Its worker reached a limit of open files, of memory or of local ports.',
  internal: 'The database, the queue or a key failed.',
};

/** What is wrong with a field. */
export const CODES: Readonly<Record<string, string>> = {
  invalid_type: 'missing or of another type',
  too_small: 'empty',
  empty: 'empty',
  too_long: 'too long',
  too_big: 'too many',
  not_http_url: 'not an http or https address',
  not_storable: 'text with U+0000 or half of a surrogate pair',
  mismatch: 'of another game',
  without_length: 'without a length: it may have been cut',
  cert_has_expired: 'from a server whose certificate has expired',
  err_tls_cert_altname_invalid: 'from a server whose certificate has another name',
  incomplete: 'incomplete: is Content-Length its number of bytes?',
  http_parser: 'not valid HTTP/1.1: a header or a chunk is wrong',
  und_err_headers_overflow: 'preceded by more than 16 KiB of headers',
  und_err_res_content_length_mismatch: 'of another length than its Content-Length',
  unrequested_100_or_101: 'preceded by 100 Continue or 101 Switching Protocols, which was not requested',
};

/** What is wrong with several fields, where the words are others. */
const OF_SEVERAL: Readonly<Record<string, string>> = { not_http_url: 'not http or https addresses' };

const REASONS_SHOWN = 5;

/** Kinds and codes come from rows and answers, which may name a property of every object, such as `constructor`. */
const wordsOf = (words: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(words, key) ? words[key] : undefined;

/** Is it a fault of the platform? */
export const isOwnKind = (kind: string): boolean => Object.hasOwn(OWN_KINDS, kind);

const UNANSWERED: readonly string[] = [
  'timeout',
  'connect_failed',
  'name_not_found',
  'tls_failed',
  'forbidden_address',
] satisfies (keyof typeof FAILURE_KINDS)[];

/** Does nothing answer, so that no answer can be corrected? */
export const isUnanswered = ({ kind }: { kind: string }): boolean => UNANSWERED.includes(kind);

/** What failed: a call, or a row of its answer. */
export type Failed = { operation: string; kind: string; reasons: readonly Reason[] };

/** The place of an element in its list, and a field of it. */
const ELEMENT = /\.\d+((?:\.\D[^.]*)*)$/;

const AND = new Intl.ListFormat('en-GB', { type: 'conjunction' });

/**
 * @param reasons of one field, or of elements of one list, with one code, on one page
 * @param whole the name of what has no path
 */
const describeField = (reasons: readonly Reason[], whole: string): string => {
  const paths = [...new Set(reasons.map(({ path }) => path))];
  const { code = '', page } = reasons[0] ?? {};
  if (paths[0] === '' && !Object.hasOwn(CODES, code)) return code;
  const what = wordsOf(CODES, code) ?? code;
  const where = page === undefined ? '' : ` (page ${page})`;
  return paths.length === 1
    ? `${paths[0] || whole} is ${what}${where}`
    : `${AND.format(paths)} are ${wordsOf(OF_SEVERAL, code) ?? what}${where}`;
};

/**
 * Describes wrong fields or the server's message: `game_icon.0 is empty`, `game_icon.0 and game_icon.2 are empty`. Empty if the kind
 * says it all.
 */
export const describeReasons = ({ kind, reasons }: Failed): string => {
  const shown = reasons.slice(0, REASONS_SHOWN).filter(({ path, code }) => path !== '' || code !== kind);
  const fields = Map.groupBy(
    shown,
    ({ path, code, page }) => `${code} ${page} ${path.replace(ELEMENT, '.$1')}`,
  );
  const whole = kind === 'invalid_data' ? 'data' : 'the answer';
  return [...fields.values()].map((each) => describeField(each, whole)).join(', ');
};

/** A code of the system or of HTTP, with its number, and not the text of an application. */
const BARE_CODE = /^\w+( -?\d+)?$/;

/** Are the reasons codes alone, which say less than the words of their kind? */
export const areBareCodes = ({ reasons }: Failed): boolean =>
  reasons.every(({ path, code }) => path === '' && BARE_CODE.test(code) && !Object.hasOwn(CODES, code));

const wordsOfKind = (kind: string): string | undefined =>
  isOwnKind(kind) ? `A fault of the platform: ${OWN_KINDS[kind]}` : wordsOf(FAILURE_KINDS, kind);

/** Describes a kind of failure in a sentence. */
export const describeKind = (kind: string): string => wordsOfKind(kind) ?? `Failed: ${kind}.`;

/** The kind of a failure within the reason of a run, with the fields, the status and the application's own code behind it. */
const KIND = /: (\w+)(?: \(([^()]*)\))?(?: (HTTP \d+))?(?: (-?\d+))?(?=;| "|$)/g;

/** Does the reason of a run say that nothing answers? */
export const namesUnanswered = (reason: string): boolean =>
  reason.matchAll(KIND).some(([, kind = '']) => isUnanswered({ kind }));

/**
 * Replaces the kinds in the reason of a run by words: `page 1: http_status HTTP 401` becomes `page 1: the webhook answered with
 * an HTTP error, and the body is not the expected JSON (HTTP 401)`.
 */
export const spellKinds = (reason: string): string =>
  reason.replace(KIND, (code, kind: string, ...details: (string | undefined)[]) => {
    const words = wordsOfKind(kind);
    if (words === undefined) return code;
    const said = `: ${words[0]?.toLowerCase()}${words.slice(1).replace(/\.$/, '')}`;
    const [fields, status, ret_code] = details;
    const spelled = fields?.replace(/: (\w+)/g, (given, each: string) => ` ${wordsOf(CODES, each) ?? given}`);
    const more = [spelled, status, ret_code].filter((detail) => detail !== undefined);
    return more.length === 0 ? said : `${said} (${more.join(', ')})`;
  });

/** Why deliveries end without an attempt. */
const ENDED: Readonly<Record<string, string>> = {
  address_removed: 'The address was removed.',
  switched_off: 'The address was switched off.',
};

/** Says in a sentence how the last attempt of a delivery ended, or why there was none; empty while nothing is known. */
export const describeAttempt = (event: { last_status: number | null; last_error: string | null }): string => {
  const { last_status, last_error } = event;
  if (last_status !== null) return `HTTP ${last_status}.`;
  return last_error === null ? '' : (wordsOf(ENDED, last_error) ?? describeError(last_error));
};

/** Explains in a sentence why a delivery failed: the words of a known kind, or the response of the receiver. */
export const describeError = (error: string): string => wordsOfKind(error) ?? `${error}.`;

/** Describes a failure in a sentence: `The answer does not match the interface document (game_icon is too long).` */
export const describeFailure = (failed: Failed): string => {
  const details = describeReasons(failed);
  const what = describeKind(failed.kind);
  if (details === '' || isOwnKind(failed.kind)) return what;
  return what.replace(/[.?]$/, (end) => ` (${details})${end}`);
};

/** Describes an open failure: `query_game_detail failed once. The answer does not match …`. */
export const describeOpenFailure = (failed: Failed & { count: number }): string => {
  const times = failed.count === 1 ? 'once' : `${failed.count} times`;
  return `${failed.operation} failed ${times}. ${describeFailure(failed)}`;
};

/** Advises the developer about wrong fields, in a sentence; empty if none is named. @param then what follows the correction */
export const adviseOn = ({ kind, reasons }: Failed, then = 'have the game read'): string => {
  if (kind !== 'invalid_data' && kind !== 'invalid_item') return '';
  const fields = new Set(reasons.slice(0, REASONS_SHOWN).flatMap(({ path }) => (path === '' ? [] : [path])));
  return fields.size === 0 ? '' : `Correct ${AND.format(fields)}, then ${then}.`;
};
