/**
 * What people, applications and the processes themselves do. An operation says once what it does; `operate` runs it for
 * the command line, the console, the KYC desk, the portal and the operator API.
 *
 * A run passes, in this order: the form of the input, the right of the caller, one transaction (the second person, the
 * change, the entries of the audit log), and then what follows the commit.
 */
import { z } from 'zod';
import { allowLongStatements, type Database, type Queryable } from '#db/client.ts';
import type { ApprovalRow } from '#db/queries/approvals.ts';
import { type Actor, type AuditEntry, recordAudit } from '#db/queries/audit.ts';
import { transact } from '#db/transact.ts';
import type { ApprovalKind, FourEyes } from '#src/contract/approvals.ts';
import type { AuditAction } from '#src/contract/audit.ts';
import { hasRight, namesOfRoles, RIGHTS, type Right, type Role } from '#src/contract/roles.ts';
import { CatalogueError, coerceError, UsageError } from '#src/errors.ts';
import { ApprovalError, requireSecondPerson } from '#src/operations/second-person.ts';
import type { Producer } from '#src/queue/producer.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';

/** Who runs an operation. */
export type Caller = {
  actor: Actor;
  /** The roles of an operator; an application has none. `all`: the command line, and the processes themselves. */
  roles: readonly Role[] | 'all';
};

/** A process of ours as the caller. */
export const systemCaller = (name: string): Caller => ({
  actor: { actor: name, actor_kind: 'system' },
  roles: 'all',
});

/** What the process of the caller has. */
export type Platform = {
  sql: Database;
  /** What takes two persons (FOUR_EYES). */
  fourEyes: FourEyes;
  /** Opens the queues. */
  producer: () => Promise<Producer>;
  /** Opens the keys. @throws KeyError `no_key` in a process without keys */
  keys: () => Promise<KeyRing>;
};

/** What an operation is given beside its input. */
export type Context = Platform & {
  caller: Caller;
  /** The approval that this run uses up. */
  approval: ApprovalRow | undefined;
};

/** An entry of the audit log. The caller, the name and the subject of the operation are its defaults. */
export type AuditNote = Partial<AuditEntry>;

export type Operation<Schema extends z.ZodType, Result, Final> = {
  /** `<subject>.<verb>`, also the action in the audit log. */
  name: AuditAction;
  title: string;
  /** Who may do it. `own`: each operator, for the own sign-in. `system`: the processes of the platform alone. */
  right: Right | 'own' | 'system';
  /** Its developer may do it too, for the application that is the subject. */
  byApplication?: true;
  input: Schema;
  /** What the audit log names: `<kind>:<id>`. */
  subject(input: z.infer<Schema>): string;
  /** Takes two persons if FOUR_EYES says so. Callers then give `approval_id` beside the input. */
  secondPerson?: {
    kind: ApprovalKind;
    /** Locks what is approved and reads its version. Null: there is nothing to do, and so nothing to approve. */
    lockVersion(tx: Queryable, input: z.infer<Schema>): Promise<string | null>;
  };
  /** One of its statements may take minutes, because it withdraws millions of games. */
  isLong?: true;
  /** Makes the change. Runs again if Postgres ended the transaction for a deadlock. */
  run(tx: Queryable, input: z.infer<Schema>, context: Context): Promise<Result>;
  /** The entries of the audit log. Default: one, without reason and details. None: nothing was changed. */
  log?(result: Result, input: z.infer<Schema>): AuditNote | readonly AuditNote[];
  /** What follows the commit, such as jobs. If it throws, the change and its entries stay. */
  after?(result: Result, input: z.infer<Schema>, context: Context): Promise<Final>;
};

export type AnyOperation = Operation<z.ZodType, unknown, unknown>;

/** Defines an operation. Its types come from its parts. */
export const defineOperation = <Schema extends z.ZodType, Result, Final = Result>(
  operation: Operation<Schema, Result, Final>,
): Operation<Schema, Result, Final> => operation;

/** The caller may not do this. */
export class ForbiddenError extends CatalogueError {
  override readonly name = 'ForbiddenError';
}

/** @throws ForbiddenError */
const requireRight = (operation: AnyOperation, subject: string, { actor, roles }: Caller): void => {
  const { right, byApplication, title } = operation;
  if (actor.actor_kind === 'application') {
    if (byApplication && subject === `application:${actor.actor}`) return;
    throw new ForbiddenError(`${title}: applications may not do this.`);
  }
  if (right === 'system') {
    if (actor.actor_kind === 'system') return;
    throw new ForbiddenError(`${title}: only the platform itself does this.`);
  }
  if (right === 'own' || roles === 'all' || hasRight(roles, right)) return;
  throw new ForbiddenError(`${title}: this takes the role ${namesOfRoles(RIGHTS[right])}.`);
};

/** @throws UsageError that names each wrong field */
const parseInput = <Schema extends z.ZodType>(schema: Schema, given: unknown): z.infer<Schema> => {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => [path.join('.'), message].join(' ').trim());
  throw new UsageError(`${problems.join('; ')}.`);
};

const approvalInput = z.object({ approval_id: z.guid().toLowerCase().optional() });

const ONE_PERSON = { approval: undefined, entries: [], details: {} };

/** What a run knows before its transaction begins. */
type Run = Platform & { caller: Caller; subject: string; approval_id: string | undefined };

/** Requires the second person, if there is something to do. */
const approve = async <Schema extends z.ZodType>(
  tx: Queryable,
  { secondPerson }: Operation<Schema, unknown, unknown>,
  input: z.infer<Schema>,
  { caller, subject, approval_id, fourEyes }: Run,
) => {
  if (secondPerson === undefined) return ONE_PERSON;
  const version = await secondPerson.lockVersion(tx, input);
  if (version !== null) {
    const use = { kind: secondPerson.kind, subject, version, actor: caller.actor };
    return requireSecondPerson(tx, { fourEyes, approval_id }, use);
  }
  if (approval_id === undefined) return ONE_PERSON;
  throw new ApprovalError('What was approved is gone: there is nothing left to do.');
};

/** The transaction of an operation. */
const runLogged = async <Schema extends z.ZodType, Result>(
  tx: Queryable,
  operation: Operation<Schema, Result, unknown>,
  input: z.infer<Schema>,
  run: Run,
): Promise<Result> => {
  if (operation.isLong) await allowLongStatements(tx);
  const { approval, entries, details } = await approve(tx, operation, input, run);
  const result = await operation.run(tx, input, { ...run, approval });
  const byDefault = { ...run.caller.actor, action: operation.name, subject: run.subject };
  const notes = [operation.log?.(result, input) ?? {}].flat();
  const own = notes.map((note) => ({ ...byDefault, ...note, details: { ...note.details, ...details } }));
  await recordAudit(tx, [...entries, ...own]);
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
  given: z.input<Schema> & { approval_id?: string | undefined },
  caller: Caller,
  platform: Platform,
): Promise<Final> => {
  const input = parseInput(operation.input, given);
  const subject = operation.subject(input);
  requireRight(operation as AnyOperation, subject, caller);
  const { approval_id } = operation.secondPerson === undefined ? {} : parseInput(approvalInput, given);
  const run: Run = { ...platform, caller, subject, approval_id };
  try {
    const result = await transact(platform.sql, (tx) => runLogged(tx, operation, input, run));
    if (operation.after === undefined) return result as unknown as Final;
    return await operation.after(result, input, { ...run, approval: undefined });
  } catch (thrown) {
    const error = coerceError(thrown);
    if (error instanceof ApprovalError) {
      const details = approval_id === undefined ? {} : { approval_id };
      const refusal = { action: 'approval.refuse', subject, reason: error.message, details } as const;
      await recordAudit(platform.sql, [{ ...caller.actor, ...refusal }]);
    }
    throw error;
  }
};
