/** What operations and lists give in JSON: the operator API serves these fields and no others. */
import { z } from 'zod';
import { APPROVAL_KINDS, APPROVAL_STATES } from '#src/contract/approvals.ts';
import { ROLES } from '#src/contract/roles.ts';
import {
  AUDIT_STATUSES,
  DECISIONS,
  RUN_COUNTERS,
  RUN_OUTCOMES,
  RUN_TRIGGERS,
  VERDICT_ENDINGS,
  VERDICTS,
} from '#src/contract/words.ts';

/** A time: a Date becomes a text in UTC. */
export const time = z
  .date()
  .transform((date) => date.toISOString())
  .pipe(z.iso.datetime());

export const count = z.int().min(0);
export const counts = <const Names extends readonly string[]>(names: Names) =>
  z.object(Object.fromEntries(names.map((name) => [name, count])) as Record<Names[number], typeof count>);

/** No data. The result of the operation stays in this process. */
export const nothing = z
  .unknown()
  .transform(() => null)
  .pipe(z.null());

export const operatorRoles = z.array(z.enum(ROLES));

/** A run. `outcome` is null while it is open. */
export const runDocument = z.object({
  run_id: z.guid(),
  application_id: z.string(),
  outcome: z.enum(RUN_OUTCOMES).nullable(),
  ...counts(RUN_COUNTERS).shape,
  reason: z.string().nullish(),
  note: z.string().nullish(),
  trigger: z.enum(RUN_TRIGGERS),
  full: z.boolean(),
  total: z.int().nullish(),
  next_page: z.int(),
  started_at: time,
  progress_at: time,
  finished_at: time.nullable(),
});

/** A request of the rule of two persons. */
export const approvalDocument = z.object({
  approval_id: z.guid(),
  kind: z.enum(APPROVAL_KINDS),
  subject: z.string(),
  version: z.string().describe('What was requested: void once its subject has another version.'),
  state: z.enum(APPROVAL_STATES),
  reason: z.string(),
  requested_by: z.string(),
  requested_at: time,
  approved_by: z.string().nullable(),
  approved_at: time.nullable(),
  expires_at: time,
  used_at: time.nullable(),
});

/** A verdict on a developer. It holds no value of a record. */
export const verdictDocument = z.object({
  verdict_id: z.int(),
  application_id: z.string(),
  record_id: z.guid().describe('The version of the record that it stands on.'),
  verdict: z.enum(VERDICTS),
  state: z.enum(['standing', ...VERDICT_ENDINGS]),
  reason: z.string(),
  text: z.string().nullable().describe('What the developer reads.'),
  decided_by: z.string(),
  decided_at: time,
  expires_at: time,
  ended_at: time.nullable(),
  ended_as: z.enum(VERDICT_ENDINGS).nullable(),
});

/** A game as its application names it. */
export const gameNames = z.object({
  game_id: z.guid(),
  application_id: z.string(),
  application_game_id: z.string().describe('The game_id of the application.'),
  game_name: z.string(),
});

/** A game after a decision or an undo. */
export const decidableGame = z.object({
  game_id: z.guid(),
  game_name: z.string(),
  revision: z.int(),
  audit_status: z.enum(AUDIT_STATUSES),
  withdrawn_at: time.nullable(),
  last: z
    .object({
      audit_id: z.int(),
      audit_status: z.enum(DECISIONS),
      revision: z.int(),
      reason: z.string().nullable(),
      text: z.string().nullable(),
      decided_by: z.string(),
    })
    .nullable()
    .describe('The last decision that stands.'),
});

/** A reason of rejections. */
export const reasonDocument = z.object({
  code: z.string(),
  label: z.string().describe("What the application's developer reads."),
  text: z.string().describe('What the text of a rejection begins with.'),
  position: z.int(),
  retired_at: time.nullable(),
});
