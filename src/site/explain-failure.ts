import type { FailureGroup } from '#db/queries/failure-list.ts';
import type { CallErrorCode } from '#src/egress/errors.ts';
import { html, type SafeHtml } from '#src/site/html.ts';

/** What a call did wrong, and what its results may lack. */
type ApplicationKind =
  | Exclude<CallErrorCode, 'aborted' | 'proxy_failed' | 'no_socket'>
  | 'invalid_item'
  | 'no_detail'
  | 'not_requested'
  | 'cp_id_changed'
  | 'too_many_games';

/** What each kind means to the application's developer. docs/reference.md shows them too. */
export const KINDS: Readonly<Record<ApplicationKind, string>> = {
  invalid_item: 'A row of the list does not match section 2.4.',
  invalid_data: 'The answer does not match the interface document.',
  ret_code: 'The webhook returned a failure.',
  http_status: 'The webhook answered with an HTTP error, and no envelope.',
  not_envelope: 'The answer has no ret_code and ret_msg (section 2.1).',
  not_json: 'The answer is not JSON: an error page of a proxy?',
  not_utf8: 'The answer is not UTF-8.',
  too_deep: 'The answer is nested too deeply.',
  too_many_values: 'The answer has too many keys and values.',
  not_decodable: 'The answer has a compression that was not requested.',
  body_too_large: 'The answer is too large.',
  redirect: 'The address redirects: register the final one.',
  timeout: 'No complete answer in time.',
  connect_failed: 'No connection.',
  connection_lost: 'The connection broke.',
  name_not_found: 'The name of the server does not resolve.',
  tls_failed: 'The certificate is not valid.',
  forbidden_address:
    "The platform's settings do not allow the address: it is not public, is plain http, or has a port that is not allowed.",
  no_detail: 'The list names this game, but its detail is null: list only games that have a detail.',
  not_requested: 'The batch ended before this game: the server sent Retry-After, or earlier calls failed.',
  cp_id_changed: "The cp_id of the KYC record changed: the platform's operator decides.",
  too_many_games: 'The application has as many games as it may have: this one is not stored.',
};

/** Faults of the platform: the application need not do anything. */
export const OWN_KINDS: Readonly<Record<string, string>> = {
  no_key: 'No key to seal with is set.',
  unknown_key: 'A key that sealed its token or record is not set.',
  does_not_open: 'Its sealed token or record does not open with the keys that are set.',
  unknown_version: 'Its token or record was sealed by a later release.',
  key_service: 'The key service refused, or did not answer.',
  proxy_failed: 'The proxy of its calls does not answer, or refuses its password.',
  no_socket: 'Its worker reached a limit of open files, of memory or of local ports.',
  internal: 'The database or the queue failed.',
};

const explainKind = (kind: string): string =>
  (KINDS as Readonly<Record<string, string>>)[kind] ?? `Failed: ${kind}.`;

/** What is wrong with a field. */
export const CODES: Readonly<Record<string, string>> = {
  invalid_type: 'missing or of another type',
  too_small: 'empty',
  too_long: 'too long',
  too_big: 'too many',
  not_http_url: 'not an http or https address',
  not_storable: 'has a character that cannot be stored',
  mismatch: 'of another game',
  without_length: 'without a length: it may have been cut',
  cert_has_expired: 'from a server whose certificate has expired',
  err_tls_cert_altname_invalid: 'from a server whose certificate has another name',
  unrequested_100_or_101: 'preceded by 100 Continue or 101 Switching Protocols, which was not requested',
};

/** What is wrong, in words and with the fields. */
export const explainFailure = ({
  kind,
  reasons,
  operation,
}: Pick<FailureGroup, 'kind' | 'reasons' | 'operation'>): SafeHtml => {
  const own = OWN_KINDS[kind];
  if (own !== undefined) return html`A fault of the platform: ${own}<br><small>${operation}</small>`;
  const fields = reasons
    .slice(0, 5)
    .map(({ path, code }) => `${path === '' ? 'the answer' : path} is ${CODES[code] ?? code}`)
    .join(', ');
  const where = fields === '' ? operation : `${operation}: ${fields}`;
  return html`${explainKind(kind)}<br><small>${where}</small>`;
};
