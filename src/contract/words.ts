/**
 * The words that the wire, the database, the queue and the command line share (interface document, sections 3 and 4;
 * design, sections 4 and 7).
 */

/** `audit_status` of a game (section 3). */
export const AUDIT_STATUSES = ['pending', 'passed', 'rejected'] as const;
export type AuditStatus = (typeof AUDIT_STATUSES)[number];

/** The decisions of an operator: every status but `pending`. */
export const DECISIONS = ['passed', 'rejected'] as const;
export type Decision = (typeof DECISIONS)[number];

/** The three webhooks of an application (sections 4.3 to 4.5). */
export const OPERATIONS = ['query_game_list', 'query_game_detail', 'query_cp_kyc'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** Status of an application. */
export const APPLICATION_STATUSES = ['active', 'paused', 'removed'] as const;

/** The two schedules of an application. */
export const SCHEDULES = ['games', 'kyc'] as const;
export type Schedule = (typeof SCHEDULES)[number];

/** What started a run. */
export const RUN_TRIGGERS = ['schedule', 'manual'] as const;

/** How a run ends (design, section 4). */
export const RUN_OUTCOMES = ['succeeded', 'partial', 'suspect', 'failed', 'abandoned'] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

/**
 * Why a run failed: its application gave no answer at all; its application answered, but not as it should; neither.
 * Only the first two delay the application's schedule.
 */
export const RUN_FAULTS = ['unreachable', 'application', 'none'] as const;
export type RunFault = (typeof RUN_FAULTS)[number];

/** How the listing of a run ends (design, section 4, step 5). */
export const LISTING_ENDS = ['complete', 'repeated', 'page_cap'] as const;
export type ListingEnd = (typeof LISTING_ENDS)[number];

/**
 * Pages of a run: `unread` pages could not be read after their last attempt; `unlisted` pages contain games that the
 * complete listing did not name, to be verified by their detail.
 */
export const PAGE_KINDS = ['listed', 'unread', 'unlisted'] as const;

/** Results of the details of one page or one batch. */
export const DETAIL_COUNTERS = ['inserted', 'updated', 'unchanged', 'invalid', 'failed', 'missing'] as const;
export type DetailCounts = Record<(typeof DETAIL_COUNTERS)[number], number>;

/** The counters of a run: games listed, the results of their details, and games withdrawn. */
export const RUN_COUNTERS = ['listed', ...DETAIL_COUNTERS, 'withdrawn'] as const;
export type RunCounts = Record<(typeof RUN_COUNTERS)[number], number>;

/** State of an application's KYC record (design, section 7). */
export const KYC_STATES = ['pending', 'sealed', 'not_provided', 'cp_id_changed', 'failed', 'erased'] as const;
export type KycState = (typeof KYC_STATES)[number];

/** The actions that the KYC access log records. */
export const KYC_ACTIONS = ['reveal', 'erase'] as const;

/** `application_game_id` of a failure that belongs to no game. */
export const NO_GAME = '';
