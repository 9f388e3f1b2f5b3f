import { sql } from 'drizzle-orm';
import { check, index, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { areShort, isOneOf, moment } from '#db/schema/columns.ts';
import { operators } from '#db/schema/identity.ts';
import { APPROVAL_CLOSINGS, APPROVAL_KINDS } from '#src/contract/approvals.ts';
import type { Role } from '#src/contract/roles.ts';
import type { Verdict } from '#src/contract/words.ts';

/** What was requested beyond kind and subject. */
export type RequestedGames = {
  /** Games of a suspect run; absent: all of them. */
  game_ids?: string[];
  /** The act of an administrator that makes an operator an officer. */
  act?: 'add' | 'roles' | 'link' | 'enable';
  name?: string;
  roles?: Role[];
  /** For a verdict on a developer: its word, the text for the developer, and milliseconds until it ends. */
  verdict?: Verdict;
  text?: string;
  expires?: number;
};

/**
 * Requests that take a second person: one operator makes a request, another approves it, the first uses it once. Never
 * deleted. The constraints repeat the rule (src/operations/second-person.ts): for any writer, operators cannot approve
 * their own requests, and nothing is late. The trigger `approvals_of_kyc` keeps the console's role from writing requests of the KYC desk.
 */
export const approvals = pgTable(
  'approvals',
  {
    approval_id: uuid().primaryKey(),
    kind: text({ enum: APPROVAL_KINDS }).notNull(),
    /** `application:<id>`, `run:<id>` or `operator:<login>`, as in the audit log. */
    subject: text().notNull(),
    /**
     * What the requester saw: the id of the record (for a verdict too), the refused cp_id, the number of vanishing games,
     * or the roles of the operator.
     */
    version: text().notNull(),
    requested: jsonb().$type<RequestedGames>().notNull().default({}),
    reason: text().notNull(),
    requested_by: text()
      .notNull()
      .references(() => operators.login),
    requested_at: moment('requested_at').notNull().defaultNow(),
    /** When the request ends: an hour after it was made, 15 minutes after it was approved. */
    expires_at: moment('expires_at').notNull(),
    approved_by: text().references(() => operators.login),
    approved_at: moment('approved_at'),
    used_at: moment('used_at'),
    closed_at: moment('closed_at'),
    closed_as: text({ enum: APPROVAL_CLOSINGS }),
  },
  (table) => [
    uniqueIndex('approvals_one_open')
      .on(table.kind, table.subject, table.requested_by)
      .where(sql`${table.used_at} is null and ${table.closed_at} is null`),
    index('approvals_requested_at').on(table.requested_at),
    isOneOf('approvals_kind', table.kind, APPROVAL_KINDS),
    isOneOf('approvals_closed_as', table.closed_as, APPROVAL_CLOSINGS),
    check(
      'approvals_subject',
      sql`${table.subject} ~ case
        when ${table.kind} in ('officer', 'reviewer') then '^operator:[a-z0-9][a-z0-9._@+-]{0,99}$'
        when ${table.kind} = 'withdrawals' then '^run:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
        else '^application:[a-z0-9-]{1,63}$' end`,
    ),
    areShort('approvals_texts', [table.version, table.reason]),
    areShort('approvals_request', [table.requested], 1_000_000),
    check(
      'approvals_requested',
      sql`jsonb_typeof(${table.requested}) = 'object' and not jsonb_path_exists(${table.requested}, 'strict $ ? (
        exists(@.game_ids ? (@.type() != "array")) || exists(@.game_ids[*] ? (@.type() != "string"))
        || exists(@.roles ? (@.type() != "array")) || exists(@.roles[*] ? (@.type() != "string"))
        || exists(@.act ? (@.type() != "string")) || exists(@.name ? (@.type() != "string"))
        || exists(@.verdict ? (@.type() != "string")) || exists(@.text ? (@.type() != "string"))
        || exists(@.expires ? (@.type() != "number")))', '{}', true)`,
    ),
    check('approvals_two_persons', sql`${table.approved_by} <> ${table.requested_by}`),
    check('approvals_approved', sql`(${table.approved_at} is null) = (${table.approved_by} is null)`),
    check('approvals_in_time', sql`${table.approved_at} <= ${table.requested_at} + interval '1 hour'`),
    check(
      'approvals_used_in_time',
      sql`${table.used_at} is null or (${table.approved_at} is not null and ${table.used_at} <= ${table.approved_at} + interval '15 minutes')`,
    ),
    check('approvals_one_end', sql`${table.used_at} is null or ${table.closed_at} is null`),
    check('approvals_closed', sql`(${table.closed_at} is null) = (${table.closed_as} is null)`),
  ],
);
