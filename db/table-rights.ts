import { DECISION, OPERATOR_API, REQUEST, WRITE } from '#db/operator-api-rights.ts';
import { DATABASE_ROLES, type DatabaseRole } from '#db/roles.ts';
import { KYC_SEALED_FIELDS } from '#src/contract/application.ts';
import { CONTENT_COLUMNS } from '#src/rules/mapping.ts';

/** What each role may do with a table, as `grant` has it. A role that is absent may do nothing. */
export type TableRights = Partial<Record<DatabaseRole, string>>;

/** The columns that the metrics of every process read. */
const FLEET_OF_APPLICATIONS =
  'select (application_id, name, status, every_ms, failing_since, last_success_at, created_at)';
const FLEET_OF_RUNS = 'select (application_id, run_number, started_at, finished_at, outcome, fault)';
const FLEET_OF_FAILURES = 'select (operation, kind)';
const BACKOFF =
  'status, failed_runs, failing_since, next_attempt_at, pause_reason, last_success_at, updated_at';
const PACE =
  'name, every_ms, kyc_every_ms, detail_max_age_ms, details_due_at, details_full_at, concurrency, rate, review_priority';
const EVENT_FLEET = 'select (status, last_error)';
/** The health of an address for events. The trigger `guard_event_address` bounds which addresses the console may write. */
const EVENT_HEALTH =
  'status, off_reason, off_at, failures, failing_since, next_attempt_at, last_attempt_at, last_error';
const SEAL_ADDRESS = `insert, update (url, secret, secret_keys, former_until, last_success_at, ${EVENT_HEALTH}), delete`;
const EVERYTHING = 'select, insert, update, delete';
const ADD_DELETE = 'select, insert, delete';
const ADD = 'select, insert';
const CARRY = 'select, update (carry_at)';
const MESSAGE = 'select, insert (game_id, kind, written_by, text)';
const READ_BY_ALL: TableRights = Object.fromEntries(DATABASE_ROLES.map((role) => [role, 'select']));
const APPROVAL = 'approved_by, approved_at, expires_at, used_at, closed_at, closed_as';
/** The columns of a game that workers write. The platform's own columns are not among them. */
const INGEST = `${CONTENT_COLUMNS.join(', ')}, content_hash, addresses_end_at, list_hash, fetched_at, search`;
const SITE_APPROVAL = `select, insert (${REQUEST}), update (${APPROVAL})`;
// Without ids that order rows, which come from sequences, because a row with the largest id would be the latest for ever.
const VERDICT =
  'select, insert (application_id, record_id, verdict, reason, text, decided_by, expires_at), update (ended_at, ended_as)';
const DECIDE =
  'select, insert (game_id, revision, audit_status, decided_by, reason, text, note, batch_id, appeal_id, waiting_since, ' +
  'decided_at), update (undone_at, undone_by)';
/** Without the time of replacement, which Postgres sets, because a version with a far later time would be kept for ever. */
const FORMER_RECORD = `record_id, application_id, cp_id, ${KYC_SEALED_FIELDS.join(', ')}, data_keys, received_at, changed_fields`;
const ADD_REVEAL = 'select, insert (application_id, record_id, action, accessed_by, reason)';
const RUN =
  'select, insert (run_id, application_id, trigger, "full", accept_withdrawals, storable_bytes, storable_games), update';
/** Operators whom a site lets in, and the columns that it may change. The list has no closing parenthesis, so that more can follow. */
const SITE_OPERATORS =
  'select, insert (login, name, roles, oidc_subject, counts_at), ' +
  'update (name, roles, password_hash, counts_at, last_sign_in_at, single_keys';
/**
 * Postgres says when a session began. The trigger `bind_to_site` keeps each site to its own sessions,
 * `operators_of_sites` to what it may do to officers.
 */
const SESSION =
  'select, insert (session_hash, login, site, confirmed_at), update (session_hash, seen_at, confirmed_at), delete';
/** Without the application, because one would get the state of another, which may be erased. */
const KYC_STATE = 'select, insert, update (state, pulled_at, requested_at, refused_cp_id, reason)';
/** Without the `cp_id` of the application, which a new row has, because the end of the former one ends the verdict. */
const PROVIDER = 'select, insert, update (replaced_at)';
const READ = { worker: 'select', console: 'select', operator: 'select' } as const;

const RIGHTS: Readonly<Record<string, TableRights>> = {
  api_tokens: {
    api: 'select, update (last_used_at)',
    console: 'select, update (last_used_at, revoked_at)',
    operator: 'select, insert, update (revoked_at)',
  },
  application_checks: { worker: EVERYTHING, console: WRITE, operator: 'select' },
  application_holds: { ...READ_BY_ALL, console: ADD_DELETE, operator: ADD_DELETE },
  applications: {
    worker: `select, update (${BACKOFF}, details_due_at, details_full_at)`,
    // The ages of details too: see `detailFetchedAt`.
    api: FLEET_OF_APPLICATIONS.replace(')', ', detail_max_age_ms, details_due_at, details_full_at)'),
    console: `select, update (${BACKOFF}, ${PACE})`,
    media: FLEET_OF_APPLICATIONS.replace(')', ', volatile_parameters)'),
    kyc_desk: FLEET_OF_APPLICATIONS,
    operator: WRITE,
  },
  approvals: {
    console: SITE_APPROVAL,
    kyc_desk: SITE_APPROVAL,
    operator: 'select, update (used_at, closed_at, closed_as)',
  },
  audit_head: { console: 'select', operator: 'select' },
  audit_log: { worker: ADD, api: 'insert', console: ADD, media: 'insert', kyc_desk: ADD, operator: ADD },
  // Triggers write its rows, with the rights of their owner.
  changed_games: { worker: CARRY, console: 'select', media: CARRY, operator: 'select' },
  content_providers: { worker: PROVIDER, console: 'select', kyc_desk: PROVIDER, operator: PROVIDER },
  // `migrate` writes it.
  decision_rules: READ_BY_ALL,
  detail_turns: { worker: WRITE },
  event_deliveries: { worker: EVERYTHING, console: WRITE, operator: EVERYTHING },
  // The console has no key and reads no secret.
  event_subscriptions: {
    worker: `select, update (${EVENT_HEALTH}, last_success_at, former_secret, former_until, position)`,
    api: EVENT_FLEET,
    console: `select (subscription_id, url, types, position, former_until, last_success_at, created_at, ${EVENT_HEALTH})`,
    media: EVENT_FLEET,
    kyc_desk: EVENT_FLEET,
    operator: EVERYTHING,
  },
  event_webhooks: {
    worker: `select, update (${EVENT_HEALTH}, last_success_at, former_secret, former_until)`,
    api: EVENT_FLEET,
    console: `select (application_id, url, former_until, last_success_at, created_at, ${EVENT_HEALTH}), ${SEAL_ADDRESS}`,
    media: EVENT_FLEET,
    kyc_desk: EVENT_FLEET,
    operator: EVERYTHING,
  },
  // Triggers and `place_events` write them, with the rights of their owner.
  events: { ...READ, worker: 'select, delete', api: 'select' },
  // Triggers enforce the rules of an appeal and of its answer, and write what follows.
  game_appeals: {
    api: 'select, insert (game_id, text)',
    console: 'select, insert (game_id, text), update (outcome, decided_by, answer)',
    operator: 'select, update (outcome, decided_by, answer)',
  },
  // A trigger writes it, with the rights of its owner.
  game_absences: READ,
  game_audits: {
    ...READ,
    console: DECIDE,
    api: 'select (audit_id, game_id, undone_at)',
    media: 'select',
    operator: DECIDE,
  },
  // Triggers write both, with the rights of their owner.
  game_count_changes: READ_BY_ALL,
  game_counts: READ_BY_ALL,
  game_icon_hashes: { console: 'select', media: EVERYTHING },
  game_leases: { console: EVERYTHING, operator: EVERYTHING },
  game_messages: { api: MESSAGE, console: MESSAGE, operator: MESSAGE },
  game_revisions: { ...READ, worker: ADD_DELETE, media: 'select', operator: ADD },
  game_viewers: { console: EVERYTHING, operator: EVERYTHING },
  games: {
    worker: `select, insert (game_id, application_id, application_game_id, ${INGEST}), update (audit_status, audit_time, revision, withdrawn_at, unlisted_at, updated_at, ${INGEST})`,
    api: 'select',
    console: `select, update (${DECISION})`,
    media: 'select, update (audit_status, audit_time, updated_at)',
    operator: `select, insert (game_id, application_id, application_game_id, game_package_url, audit_status, audit_time, withdrawn_at, ${INGEST}), update (${DECISION})`,
  },
  held_games: { console: ADD_DELETE, operator: ADD_DELETE },
  // A trigger applies and deletes them, with the rights of its owner.
  imported_games: { worker: 'select', console: 'select', operator: ADD },
  ingest_failures: {
    worker: EVERYTHING,
    api: FLEET_OF_FAILURES,
    console: 'select',
    media: FLEET_OF_FAILURES,
    kyc_desk: FLEET_OF_FAILURES,
    operator: EVERYTHING,
  },
  kyc_access_log: { kyc_desk: ADD_REVEAL, operator: ADD_REVEAL },
  kyc_former_records: {
    worker: `select (record_id, application_id, replaced_at), insert (${FORMER_RECORD}), delete`,
    kyc_desk: 'select, delete',
    operator: 'select, update (data_keys), delete',
  },
  // update (purpose): a lock against a reseal.
  kyc_keys: {
    worker: 'select, insert, update (purpose)',
    console: 'select (purpose, public_key)',
    kyc_desk: 'select',
    operator: 'select, update (data_keys)',
  },
  kyc_records: {
    worker: ADD_DELETE,
    kyc_desk: 'select, delete',
    operator: 'select, update (data_keys), delete',
  },
  kyc_states: { worker: KYC_STATE, console: 'select', kyc_desk: KYC_STATE, operator: KYC_STATE },
  // Triggers end verdicts, with the rights of their owner.
  kyc_verdicts: { console: 'select', kyc_desk: VERDICT, operator: VERDICT },
  oidc_flows: { console: ADD_DELETE, kyc_desk: ADD_DELETE },
  operator_sessions: { console: SESSION, kyc_desk: SESSION, operator: 'select, delete' },
  operators: {
    api: 'select (login, roles, status)',
    console: `${SITE_OPERATORS}, status)`,
    kyc_desk: `${SITE_OPERATORS})`,
    operator: WRITE,
  },
  picture_changes: { console: 'select', media: ADD, operator: 'select' },
  picture_contents: {
    worker: 'select, update (whole), delete',
    api: 'select (sha256, format, stored)',
    console: 'select, update (pinned, looked_at)',
    media: WRITE,
    operator: 'select, update (pinned, stored)',
  },
  picture_pins: {
    api: 'select (audit_id, is_icon, place, sha256)',
    console: ADD,
    media: 'select, update (picture_id, sha256)',
    operator: ADD,
  },
  picture_rules: { media: WRITE },
  picture_thumbnails: { worker: 'select, delete', console: 'select', media: ADD },
  pictures: {
    console: 'select, insert, update (next_check_at)',
    media: WRITE,
    operator: 'select, insert, update (next_check_at)',
  },
  portal_sessions: { console: 'select, insert (session_hash, token_id), update (seen_at), delete' },
  reasons: { worker: 'select', console: WRITE, operator: WRITE },
  refresh_requests: {
    worker: EVERYTHING,
    api: 'select, insert (application_id, application_game_id, is_full), update (requested_at, is_full, attempts)',
    console: 'select, insert, update (requested_at, is_full, by_operator, attempts)',
    operator: EVERYTHING,
  },
  refresh_turns: { worker: WRITE },
  run_days: { worker: EVERYTHING, console: 'select', operator: 'select' },
  // A trigger writes it, with the rights of its owner.
  search_words: { console: 'select', operator: 'select' },
  sign_in_attempts: { console: EVERYTHING, kyc_desk: EVERYTHING },
  sign_in_links: { console: ADD_DELETE, kyc_desk: 'select, delete', operator: ADD_DELETE },
  // Triggers and `place_events` write them, with the rights of their owner.
  stream_events: { ...READ, worker: 'select, delete' },
  sync_run_pages: {
    worker: EVERYTHING,
    console: 'select, update, delete',
    operator: 'select, update, delete',
  },
  sync_runs: {
    worker: `${RUN}, delete`,
    api: FLEET_OF_RUNS,
    console: RUN,
    media: FLEET_OF_RUNS,
    kyc_desk: FLEET_OF_RUNS,
    operator: RUN,
  },
  vanishing_games: { worker: ADD_DELETE, console: 'select, delete', operator: 'select, delete' },
  workers: { ...READ_BY_ALL, worker: EVERYTHING },
};

/**
 * The rights on every table. `migrate` grants them, docs/reference.md shows them, and a test tries each. A lock
 * (`for update`, `for share`) needs `update` of some column.
 */
export const TABLE_RIGHTS: Readonly<Record<string, TableRights>> = Object.fromEntries(
  Object.entries(RIGHTS).map(([table, { operator, ...others }]) => {
    const operator_api = table in OPERATOR_API ? OPERATOR_API[table] : operator;
    return [table, { ...others, ...(operator && { operator }), ...(operator_api && { operator_api }) }];
  }),
);
