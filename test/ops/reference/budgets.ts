import { STATEMENT_MS } from '#db/client.ts';
import { RATE_LIMIT_DEFAULT } from '#src/api/rate-limit.ts';
import { LIST_ROWS_MAX } from '#src/contract/application.ts';
import { BEGINS_MAX } from '#src/identity/oidc.ts';
import { SIGN_INS_MAX } from '#src/identity/portal.ts';
import { UNKNOWN_REFUSALS_MAX } from '#src/identity/refusals.ts';
import { ADDRESS_DELAYS, ATTEMPTS_MAX, WINDOW_MS } from '#src/identity/sign-in.ts';
import { roundDuration } from '#src/lib/duration.ts';
import { APPLICATION_FAILURES_MAX, BACKOFF_MS, REQUESTS_MAX } from '#src/pictures/host-limiter.ts';
import {
  CALL_TIMEOUT_MS,
  CONNECT_TIMEOUT_MS,
  EVENT_LOOP_TURN_MS,
  LOOKUPS,
  MAX_BODY_BYTES,
  MAX_JSON_VALUES,
  MEMORY,
  PACE,
  ROW_MS,
  STORAGE,
  WIRE,
} from '#src/rules/budgets.ts';
import type { Table } from '#test/ops/reference/table.ts';

const { free, firstS, maxS } = ADDRESS_DELAYS;

const KIB = 1024;
const size = (bytes: number): string => {
  const [unit, of] =
    bytes >= KIB ** 3 ? ['GiB', KIB ** 3] : bytes >= KIB ** 2 ? ['MiB', KIB ** 2] : ['KiB', KIB];
  return `${bytes / (of as number)} ${unit}`;
};
const count = (value: number): string => value.toLocaleString('en');
const time = (ms: number): string => (ms < 1_000 ? `${ms} ms` : roundDuration(ms));
const percent = (share: number): string => `${share * 100} %`;

const window = time(WINDOW_MS);
const { query_game_list, query_game_detail, query_cp_kyc } = MAX_BODY_BYTES;

/** What one application, or one caller, may take of the fleet. */
export const budgets: Table = {
  title: 'Budgets',
  intro: `No application and no caller takes more of the fleet than this. An application is slow for ${time(MEMORY.slowForMs)} after one of its large responses took more than ${time(MEMORY.slowMs)}. \`over_quota\` and \`over_time\` count as failures of the application.`,
  head: ['budget', 'figure', 'beyond it'],
  rows: [
    [
      'a call',
      `${time(CALL_TIMEOUT_MS)}, ${time(CONNECT_TIMEOUT_MS)} of them to connect`,
      '`timeout`, `connect_failed`',
    ],
    [
      'a body: list, detail, KYC record',
      `${size(query_game_list)}, ${size(query_game_detail)}, ${size(query_cp_kyc)}`,
      '`body_too_large`',
    ],
    [
      'a response',
      `${count(LIST_ROWS_MAX)} rows; ${count(MAX_JSON_VALUES)} keys and values`,
      '`invalid_data`, `too_many_values`',
    ],
    [
      'a connection',
      `${size(WIRE.bytes)} for one call; ${WIRE.interimResponses} interim (1xx) responses; ${WIRE.sessionTickets} TLS session tickets`,
      '`body_too_large`',
    ],
    ['work in one turn of the event loop', time(EVENT_LOOP_TURN_MS), 'the next response waits for a turn'],
    [
      'look-ups of names',
      `one a name; ${LOOKUPS.ordinary} at once, and ${LOOKUPS.slow} of names that took ${time(LOOKUPS.slowMs)}`,
      `the next one waits, at most the ${time(CONNECT_TIMEOUT_MS)} of its connection`,
    ],
    [
      `large responses (over ${size(MEMORY.ordinaryBytes)}) read`,
      `${size(MEMORY.readingBytes)} a process, ${size(MEMORY.readingBytesOfOne)} an application, ${size(MEMORY.readingBytesOfSlow)} for slow ones`,
      'the next one waits',
    ],
    [
      'details read and not written',
      `${size(MEMORY.unwrittenBytes)} a process, ${size(MEMORY.unwrittenBytesOfOne)} a job`,
      'no further call until they are written',
    ],
    [
      'pace of large responses, all bytes',
      `${size(PACE.bytesOfOne)} a second an application, ${size(PACE.bytes)} a second a process`,
      `the next call waits, at most ${time(PACE.maxWaitMs)}`,
    ],
    [
      `pace of slow responses (over ${time(PACE.ordinaryMs)})`,
      `${percent(PACE.shareOfOne)} of the event loop an application, ${percent(PACE.share)} all of them`,
      `what exceeds ${time(PACE.creditMs)} of work waits, at most ${time(PACE.maxWaitMs)}; a row counts ${ROW_MS} ms more`,
    ],
    ['pace of pages and details', "the application's `rate` each", 'the next call waits'],
    [
      'a listing',
      `${count(STORAGE.pages)} pages, ${size(STORAGE.listedBytes)} of ids`,
      'the run is `suspect`: the listing did not end',
    ],
    ['a run', time(STORAGE.runMs), 'the run fails: `over_time`'],
    [
      'content of new and changed games',
      `${size(STORAGE.bytesPerDay)} in 24 hours an application; a withdrawal is ${size(STORAGE.bytesOfWithdrawal)}`,
      'the run fails: `over_quota`; further runs fail until there is room',
    ],
    [
      'games kept',
      `${count(STORAGE.games)} of an application, withdrawn ones too`,
      'a new game fails: `too_many_games`; stored games are updated',
    ],
    ['failures kept', `${count(STORAGE.failures)} an application and operation`, 'counted by the run only'],
    [
      'revisions kept',
      `the latest ${STORAGE.revisions} of a game, and those that a decision names`,
      'the older ones are deleted when the game changes',
    ],
    ['pictures', `${REQUESTS_MAX} requests at once, shared by the applications`, 'the next one waits'],
    [
      'hosts of pictures that fail',
      `${APPLICATION_FAILURES_MAX} of an application in a row`,
      `no request for its pictures for ${time(BACKOFF_MS.first)}, at most ${time(BACKOFF_MS.max)}`,
    ],
    [
      'sign-ins',
      `in ${window}: ${ATTEMPTS_MAX} a known browser, ${BEGINS_MAX} begun by OIDC, ${SIGN_INS_MAX} a token`,
      '429',
    ],
    [
      'sign-ins of an address whose browser is not known',
      `${free}; the next after ${firstS} s, each later one after twice as long, up to ${time(maxS * 1_000)}`,
      '429',
    ],
    [
      'refused sign-ins of unknown callers',
      `${count(UNKNOWN_REFUSALS_MAX)} in ${window}, of each role of Postgres`,
      'refused all the same, without an entry in the audit log',
    ],
    [
      'calls of the API by one token',
      `${count(RATE_LIMIT_DEFAULT.max)} in ${time(RATE_LIMIT_DEFAULT.timeWindowMs)} from the first on, then anew; without Redis, in each API process`,
      '429 (`ret_code` 42901) with `Retry-After`',
    ],
    [
      'a statement, also of the queue',
      `${time(STATEMENT_MS.default)}; API ${time(STATEMENT_MS.api)}; end of a run and commands ${time(STATEMENT_MS.long)}`,
      'Postgres cancels it',
    ],
  ],
};
