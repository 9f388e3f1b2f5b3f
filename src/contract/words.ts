/**
 * The words that the wire (interface document, sections 3 and 4), the database, the queue and the command line share.
 */

/** `audit_status` of a game (section 3). */
export const AUDIT_STATUSES = ['pending', 'passed', 'rejected'] as const;
export type AuditStatus = (typeof AUDIT_STATUSES)[number];

/** The decisions of an operator: every status but `pending`. */
export const DECISIONS = ['passed', 'rejected'] as const;
export type Decision = (typeof DECISIONS)[number];

/** The two queues of review: games that were never decided, and games that changed after a decision. */
export const LANES = ['new', 'changed'] as const;
export type Lane = (typeof LANES)[number];

/** How soon the games of an application are due: after a quarter of REVIEW_TARGET, after it, or after four times it. */
export const REVIEW_PRIORITIES = ['high', 'normal', 'low'] as const;

/** What is written in the thread of a game: by operators for operators, for its developer, and by its developer. */
export const MESSAGE_KINDS = ['note', 'message', 'answer'] as const;

/** How an appeal ends: its rejection is upheld or overturned. `void`: another decision was made, because the content had changed. */
export const APPEAL_OUTCOMES = ['upheld', 'overturned', 'void'] as const;
export type AppealOutcome = (typeof APPEAL_OUTCOMES)[number];

/** The three webhooks of an application (sections 4.3 to 4.5). */
export const OPERATIONS = ['query_game_list', 'query_game_detail', 'query_cp_kyc'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** Status of an application. */
export const APPLICATION_STATUSES = ['active', 'paused', 'removed'] as const;

/** The two schedules of an application. */
export const SCHEDULES = ['games', 'kyc'] as const;
export type Schedule = (typeof SCHEDULES)[number];

/** What started a run: its schedule, an operator, or the application (`game/refresh`). */
export const RUN_TRIGGERS = ['schedule', 'manual', 'refresh'] as const;

/** How a run ends (docs/architecture.md, "A run"). */
export const RUN_OUTCOMES = ['succeeded', 'partial', 'suspect', 'failed', 'abandoned'] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

/** The reason of a run that an operator ended. It has no login, because the application's developer reads it too. */
export const CANCELLED = 'cancelled by an operator';

/** The end of a suspect run's reason: what an operator can do about it. */
export const ACCEPT_ADVICE =
  ': look at the application, then accept it on the page of the run, or with run accept';

/** How the reason of a run leads an operator to its failures. */
export const FAILURE_ADVICE = ': see failure list';

/** Removes the advice for operators from the reason of a run, for readers who cannot or need not follow it. */
export const withoutAdvice = (reason: string): string =>
  reason.replace(ACCEPT_ADVICE, '').replace(FAILURE_ADVICE, '');

/**
 * Why a run failed: its application did not respond (`unreachable`), it responded with errors (`application`), a worker
 * could open no connection (`worker`), no key of the platform opens its access token (`keys`), or none of these (`none`).
 * Only the first two delay the application's schedule.
 */
export const RUN_FAULTS = ['unreachable', 'application', 'worker', 'keys', 'none'] as const;
export type RunFault = (typeof RUN_FAULTS)[number];

/** How the listing of a run ends (src/rules/listing.ts). */
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

/** State of an application's KYC record (docs/kyc.md, "What an application's state means"). */
export const KYC_STATES = ['pending', 'sealed', 'not_provided', 'cp_id_changed', 'failed', 'erased'] as const;
export type KycState = (typeof KYC_STATES)[number];

/** The actions that the KYC access log records. */
export const KYC_ACTIONS = ['reveal', 'erase'] as const;

/** What an officer decides on a developer. */
export const VERDICTS = ['verified', 'refused', 'incomplete'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** How a verdict ends: the record changed or was erased, its time ended, its application was removed, or a later one. */
export const VERDICT_ENDINGS = ['changed', 'erased', 'expired', 'removed', 'replaced'] as const;

/**
 * Why no game of an application can be passed: an operator holds it, or its developer has no standing verdict `verified`
 * and GAMES_NEED_VERDICT is on.
 */
export type PassObstacle = 'held' | 'needs_verdict';

/** `application_game_id` of a failure that belongs to no game. */
export const NO_GAME = '';

/** What an application receives about its games: each change of a game's status, messages, and appeals that were refused. */
export const GAME_EVENT_TYPES = [
  'game.passed',
  'game.rejected',
  'game.pending',
  'game.withdrawn',
  'game.message',
  'game.appeal_upheld',
] as const;

/** What an address of an application is sent: what happens to its games, and what its developer requests as a test. */
export const EVENT_TYPES = [...GAME_EVENT_TYPES, 'webhook.test'] as const;

/** What the platform's stream has: what applications receive about their games, and what the platform alone receives. */
export const STREAM_TYPES = [
  ...GAME_EVENT_TYPES,
  'game.received',
  'game.changed',
  'game.answered',
  'game.appealed',
  'kyc.changed',
  'kyc.verdict',
  'application.added',
  'application.updated',
  'application.paused',
  'application.resumed',
  'application.removed',
  'run.suspect',
] as const;
export type StreamType = (typeof STREAM_TYPES)[number];

/** Why the status of a game changed, or what else an event is about. */
export const EVENT_WHYS = [
  'decided',
  'decision_undone',
  'content_changed',
  'pictures_changed',
  'not_listed',
  'returned',
  'held',
  'released',
  'needs_verdict',
  'appeal',
  'message',
  'test',
] as const;
export type EventWhy = (typeof EVENT_WHYS)[number];

/** State of the delivery of an event to an application's address. */
export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;

/** Status of an application's address for events: `off` after it failed for days, or answered 410. */
export const EVENT_WEBHOOK_STATUSES = ['active', 'off'] as const;

/** The settings that have a default when an application is added. */
export const SETTING_DEFAULTS = {
  every: '15m',
  kyc_every: '24h',
  detail_max_age: '24h',
  concurrency: 8,
  rate: 50,
  volatile_parameters: [],
  review_priority: 'normal',
} as const;
