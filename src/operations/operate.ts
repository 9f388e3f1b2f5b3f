/**
 * Runs operations. A run passes, in this order: the form of the input, the right of the caller, the calls to the key
 * service, one transaction (the second person, the change, the entries of the audit log), and then what follows the commit.
 */
import { z } from 'zod';
import { allowLongStatements, type Database, type Queryable } from '#db/client.ts';
import type { ApprovalRow } from '#db/queries/approvals.ts';
import { type AuditEntry, recordAudit } from '#db/queries/audit.ts';
import { lockOperatorState, readOperatorState } from '#db/queries/operators.ts';
import { transact } from '#db/transact.ts';
import { FOUR_EYES_KINDS } from '#src/contract/approvals.ts';
import { actionOf } from '#src/contract/audit.ts';
import { ISSUE_WORDS } from '#src/contract/issue-words.ts';
import { coerceError, UsageError } from '#src/errors.ts';
import { recordKnownRefusal } from '#src/identity/refusals.ts';
import { mapConcurrently } from '#src/lib/map-concurrently.ts';
import type { AnyOperation, Caller, Given, Operation, Platform } from '#src/operations/operation.ts';
import { readCallerState, requireOwn, requireRight, requireRightStill } from '#src/operations/rights.ts';
import { ApprovalError, requireApproverStill, requireSecondPerson } from '#src/operations/second-person.ts';

/** @returns the input as the operation gets it @throws UsageError that names each wrong field */
export const checkInput = <Schema extends z.ZodType>(schema: Schema, given: unknown): z.infer<Schema> => {
  const parsed = schema.safeParse(given, ISSUE_WORDS);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => [path.join('.'), message].join(' ').trim());
  throw new UsageError(`${problems.join('; ')}.`);
};

const approvalInput = z.object({ approval_id: z.guid().toLowerCase().optional() });

/** The token by which an operator acts, for the details of an entry. */
const noteToken = ({ actor, token_id }: Caller): { token_id?: string } =>
  token_id === undefined || actor.actor_kind === 'application' ? {} : { token_id };

const ONE_PERSON = { approval: undefined, entries: [], details: {} };

/** What a run knows before its transaction begins. */
type Run = Omit<Platform, 'sql' | 'keys'> & {
  caller: Caller;
  subject: string;
  approval_id: string | undefined;
  prepared: unknown;
};

/** Requires the second person, if there is something to do. */
const approve = async <Schema extends z.ZodType>(
  tx: Queryable,
  { secondPerson }: Operation<Schema, unknown, unknown>,
  input: z.infer<Schema>,
  { caller, subject, approval_id, fourEyes }: Run,
) => {
  if (secondPerson === undefined) return ONE_PERSON;
  const version = await secondPerson.lockVersion(tx, input, caller);
  if (version !== null) {
    const kind = (await secondPerson.kindOf?.(tx, input)) ?? secondPerson.kind;
    const use = { kind, subject, version, actor: caller.actor };
    return requireSecondPerson(tx, { fourEyes, approval_id }, use);
  }
  if (approval_id === undefined) return ONE_PERSON;
  throw new ApprovalError('What was approved is gone: there is nothing left to do.');
};

/** Makes the change of an operation. @returns the entries for the audit log, and the request that was used, too */
const runUnlogged = async <Schema extends z.ZodType, Result>(
  tx: Queryable,
  operation: Operation<Schema, Result, unknown>,
  input: z.infer<Schema>,
  run: Run,
): Promise<{ result: Result; entries: AuditEntry[]; approval: ApprovalRow | undefined }> => {
  if (operation.isLong) await allowLongStatements(tx);
  const { approval, entries, details } = await approve(tx, operation, input, run);
  const context = { ...run, approval };
  const result = await operation.run(tx, input, context);
  const own = [operation.log?.(result, input, context) ?? {}].flat().map((note) => ({
    ...run.caller.actor,
    action: actionOf(operation.name),
    subject: run.subject,
    ...note,
    // The second person belongs to what was approved, not to what it caused.
    details: {
      ...note.details,
      ...(note.action === undefined && details),
      ...(note.actor === undefined && noteToken(run.caller)),
    },
  }));
  const used = entries.map((entry) => ({
    ...entry,
    details: { ...entry.details, ...noteToken(run.caller) },
  }));
  return { result, entries: [...used, ...own], approval };
};

/** The transaction of an operation. Entries come last, because they lock the audit log until the commit. */
const runLogged = async <Schema extends z.ZodType, Result>(
  tx: Queryable,
  operation: Operation<Schema, Result, unknown>,
  input: z.infer<Schema>,
  run: Run,
): Promise<Result> => {
  const { caller, subject } = run;
  // What callers do to themselves may end their own right.
  const isOnSelf = [`operator:${caller.actor.actor}`, `token:${caller.token_id}`].includes(subject);
  const requireStill = async (read: typeof readOperatorState): Promise<void> => {
    if (operation.right === 'own') return;
    requireRightStill(operation, input, caller, await readCallerState(tx, caller, read));
  };
  if (isOnSelf) await requireStill(lockOperatorState);
  const { result, entries, approval } = await runUnlogged(tx, operation, input, run);
  await recordAudit(tx, entries);
  if (approval !== undefined) await requireApproverStill(tx, approval);
  if (!isOnSelf) await requireStill(readOperatorState);
  return result;
};

/**
 * Runs an operation.
 * @param given its input, which is checked here; with `approval_id` if an approval is used
 * @returns what `after` returns, or else `run`
 * @throws UsageError for wrong input, ForbiddenError without the right, ApprovalError without the second person, and what
 *   the operation throws. If its transaction failed, nothing is changed; an ApprovalError is in the audit log.
 */
export const operate = async <Schema extends z.ZodType, Result, Final>(
  operation: Operation<Schema, Result, Final>,
  given: Given<Schema>,
  caller: Caller,
  { sql, keys, ...platform }: Platform,
): Promise<Final> => {
  const input = checkInput(operation.input, given);
  const { approval_id } = checkInput(approvalInput, given);
  requireRight(operation, input, caller);
  const subject = await operation.subject(input, { sql, caller });
  requireOwn(operation, subject, caller);
  const run = { ...platform, caller, subject, approval_id };
  try {
    const result = await transact(
      sql,
      (tx, prepared) => runLogged(tx, operation, input, { ...run, prepared }),
      async () => operation.prepare?.(input, { sql, keys }),
    );
    if (operation.after === undefined) return result as unknown as Final;
    return await operation.after(result, input, { ...run, sql, keys, approval: undefined });
  } catch (thrown) {
    const error = coerceError(thrown);
    if (error instanceof ApprovalError) {
      const details = { approval_id, kind: error.kind, ...noteToken(caller) };
      const refusal = { action: 'approval.refuse', subject, reason: error.message, details } as const;
      await recordKnownRefusal(sql, { ...caller.actor, ...refusal });
    }
    throw error;
  }
};

/** Calls to the key service at once, of operations that run together. */
export const KEY_CALLS = 16;

/** An operation with its input, as one of several. */
export type Planned = { operation: AnyOperation; given: object };

/**
 * Runs operations in one transaction: all of them, or none. None of them takes two persons, or has an `after`.
 * @throws what `operate` throws
 */
export const operateAll = async (
  planned: readonly Planned[],
  caller: Caller,
  { sql, keys, ...platform }: Platform,
): Promise<void> => {
  const checked = planned.map(({ operation, given }) => {
    const { name, after, secondPerson } = operation;
    if (after !== undefined || secondPerson !== undefined) throw new Error(`${name} runs alone`);
    const input = checkInput(operation.input, given);
    requireRight(operation, input, caller);
    return { operation, input };
  });
  const prepareAll = (): Promise<unknown[]> =>
    mapConcurrently(checked, KEY_CALLS, async ({ operation, input }) =>
      operation.prepare?.(input, { sql, keys }),
    );
  const runAll = async (tx: Queryable, prepared: readonly unknown[]): Promise<void> => {
    const all: AuditEntry[] = [];
    for (const [index, { operation, input }] of checked.entries()) {
      const subject = await operation.subject(input, { sql: tx, caller });
      requireOwn(operation, subject, caller);
      const run = { ...platform, caller, subject, approval_id: undefined, prepared: prepared[index] };
      all.push(...(await runUnlogged(tx, operation, input, run)).entries);
    }
    await recordAudit(tx, all);
    const now = await readCallerState(tx, caller);
    for (const { operation, input } of checked) requireRightStill(operation, input, caller, now);
  };
  await transact(sql, runAll, prepareAll);
};

const needsNothing = (): Promise<never> =>
  Promise.reject(new Error('this operation uses the database alone'));

/** The platform of an operation that uses only the database. The operation has no second person, so `fourEyes` is never read. */
const DATABASE_ALONE = {
  fourEyes: { kinds: FOUR_EYES_KINDS, onceTwo: false },
  keepsPictures: false,
  producer: needsNothing,
  keys: needsNothing,
};

/** A process of ours as the caller. */
const systemCaller = (name: string): Caller => ({
  actor: { actor: name, actor_kind: 'system' },
  roles: 'all',
});

/** An application's developer as the caller. @param token_id of the token that the call, or the session, has */
export const applicationCaller = (application_id: string, token_id?: string): Caller => ({
  actor: { actor: application_id, actor_kind: 'application' },
  roles: [],
  ...(token_id !== undefined && { token_id }),
});

/** Runs an operation for an application's developer. */
export const operateAsApplication = <Schema extends z.ZodType, Result, Final>(
  operation: Operation<Schema, Result, Final>,
  given: z.input<Schema>,
  caller: Caller,
  sql: Database,
): Promise<Final> => operate(operation, given as Given<Schema>, caller, { sql, ...DATABASE_ALONE });

/** Runs an operation of the platform itself. @param process what the audit log names, such as `worker` */
export const operateAsSystem = <Schema extends z.ZodType, Result, Final>(
  operation: Operation<Schema, Result, Final>,
  given: z.input<Schema>,
  process: string,
  sql: Database,
): Promise<Final> =>
  operate(operation, given as Given<Schema>, systemCaller(process), { sql, ...DATABASE_ALONE });

/**
 * Runs an operation of the platform itself in the transaction of a worker's engine, whose last statement it is.
 * @returns what `run` returns
 */
export const operateWithin = async <Schema extends z.ZodType, Result>(
  tx: Queryable,
  operation: Operation<Schema, Result, Result>,
  given: z.input<Schema>,
): Promise<Result> => {
  const caller = systemCaller('worker');
  const input = checkInput(operation.input, given);
  requireRight(operation, input, caller);
  const subject = await operation.subject(input, { sql: tx, caller });
  const run = { ...DATABASE_ALONE, caller, subject, approval_id: undefined, prepared: undefined };
  return runLogged(tx, operation, input, run);
};
