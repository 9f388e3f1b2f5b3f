import type { RunFault } from '#src/contract/words.ts';

/** How one call failed: the fields of CallError that these rules read. */
export type CallFailure = {
  code: string;
  /** The call failed before a body that could be read. */
  transport: boolean;
  /** HTTP status of the response, if there was one. */
  status?: number | undefined;
  retryAfterMs?: number | undefined;
};

/**
 * Did the application answer this call? A response of any HTTP status is an answer, unless it requests a delay
 * (Retry-After), because then the application itself reports that it cannot answer now.
 */
export const isAnswered = ({ transport, status, retryAfterMs }: CallFailure): boolean =>
  retryAfterMs === undefined && (!transport || status !== undefined);

const UNREACHABLE: ReadonlySet<string> = new Set([
  'name_not_found',
  'connect_failed',
  'proxy_failed',
  'timeout',
]);

/** Whose fault is it that these calls ended a run? `unreachable` may also be the fleet's own DNS or egress. */
export const findRunFault = (failures: readonly Pick<CallFailure, 'code'>[]): RunFault => {
  if (failures.length === 0) return 'none';
  if (failures.some(({ code }) => code === 'no_socket')) return 'worker';
  return failures.every(({ code }) => UNREACHABLE.has(code)) ? 'unreachable' : 'application';
};

/** Evidence about the detail webhook, from all pages of a run. */
export type DetailEvidence = {
  /** Detail calls of the run that were answered. */
  answered: number;
  /** Games whose detail this run could not fetch, and that were no known failure before it. */
  newlyFailed: number;
};

/**
 * At least this many games must begin to fail in one run. Fewer may be broken games of a run that fetches few details.
 */
const DOWN_MIN = 10;

/**
 * Is the detail webhook down? One answered call proves that it is not, and a known failure proves nothing. The run then
 * ends as failed at this page, so it spends its attempts on no other.
 */
export const isDetailWebhookDown = ({ answered, newlyFailed }: DetailEvidence): boolean =>
  answered === 0 && newlyFailed >= DOWN_MIN;

const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404, 410]);

/**
 * May the listing go on without this page after its last attempt? A body that cannot be read costs only its page. An
 * error that the application reports costs only its page, unless it is the first; a refusal concerns every page.
 */
export const maySkipPage = (page_num: number, { code, transport, status = 0 }: CallFailure): boolean => {
  if (code === 'aborted') return false;
  if (!transport && code !== 'ret_code') return true;
  if (page_num === 1) return false;
  return code === 'ret_code' ? !REFUSALS.has(status) : code === 'http_status' && status >= 500;
};
