/** The roles of Postgres that processes connect as: `catalogue_worker`, … The role that migrates owns everything. */
export const DATABASE_ROLES = [
  'worker',
  'api',
  'console',
  'media',
  'kyc_desk',
  'operator',
  'operator_api',
] as const;
export type DatabaseRole = (typeof DATABASE_ROLES)[number];

/** The name of a role in Postgres. */
export const roleName = (role: DatabaseRole): string => `catalogue_${role}`;

/** Roles that add jobs or run them, where the queue is in Postgres. The others do not read it. */
export const QUEUE_WRITERS: readonly DatabaseRole[] = [
  'worker',
  'console',
  'media',
  'operator',
  'operator_api',
];

/**
 * Functions that run with the rights of their owner, and who may call them; no role may call the others. Triggers run their
 * functions without this right. Creating a trigger requires it, so without it a role cannot run the function on rows of a
 * temporary table.
 */
export const FUNCTION_RIGHTS: Readonly<Record<string, readonly DatabaseRole[]>> = {
  'carry_over_decision(uuid,integer,bigint,jsonb)': ['media'],
  'clear_kyc_failure(text)': ['worker', 'kyc_desk', 'operator', 'operator_api'],
  'count_appeals()': DATABASE_ROLES,
  'count_due_games()': DATABASE_ROLES,
  'count_refusal(text)': ['console', 'kyc_desk', 'operator', 'operator_api'],
  'count_verdicts()': DATABASE_ROLES,
  'count_wraps()': DATABASE_ROLES,
  'end_expired_verdicts()': ['worker'],
  'end_overdue_sessions()': ['worker'],
  'place_events(text,integer)': ['worker', 'api', 'operator', 'operator_api'],
  'process_sessions()': DATABASE_ROLES,
  'recount_games(boolean)': ['operator'],
  'send_test_event(text)': ['console', 'operator', 'operator_api'],
};
