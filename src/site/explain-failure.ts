import {
  areBareCodes,
  describeKind,
  describeReasons,
  FAILURE_KINDS,
  type Failed,
  isOwnKind,
} from '#src/contract/failure-words.ts';
import type { CallErrorCode } from '#src/egress/errors.ts';
import { html, type SafeHtml } from '#src/site/html.ts';

/** The kinds of failures that an application causes. */
type ApplicationKind =
  | Exclude<CallErrorCode, 'aborted' | 'proxy_failed' | 'no_socket'>
  | 'invalid_item'
  | 'no_detail'
  | 'not_requested'
  | 'cp_id_changed'
  | 'too_many_games';

/** Every kind has words. */
export const KINDS: Readonly<Record<ApplicationKind, string>> = FAILURE_KINDS;

/**
 * Shows the wrong fields or the server's message, and below it the call and what its failure means. What it means stands first
 * if the server said nothing.
 */
export const explainFailure = (failed: Failed): SafeHtml => {
  const { kind, operation } = failed;
  const cause = isOwnKind(kind) ? '' : describeReasons(failed);
  const meaning = describeKind(kind);
  if (cause === '') return html`${meaning}<br><small>${operation}</small>`;
  const [first, second] = areBareCodes(failed) ? [meaning, cause] : [cause, meaning];
  return html`${first}<br><small>${operation} · ${second}</small>`;
};
