/**
 * What people, applications and the processes themselves do. An operation says once what it does; `operate`
 * (src/operations/operate.ts) runs it for the command line, the console, the KYC desk, the portal and the operator API.
 */
import type { z } from 'zod';
import type { Database, Queryable } from '#db/client.ts';
import type { ApprovalRow } from '#db/queries/approvals.ts';
import type { Actor, AuditEntry } from '#db/queries/audit.ts';
import type { ApprovalKind, FourEyes } from '#src/contract/approvals.ts';
import type { OperationName } from '#src/contract/audit.ts';
import type { Right, Role, Site } from '#src/contract/roles.ts';
import { CatalogueError } from '#src/errors.ts';
import type { Producer } from '#src/queue/producer.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';

/** Who runs an operation. */
export type Caller = {
  actor: Actor;
  /** The roles of an operator; an application has none. `all`: the command line, and the processes themselves. */
  roles: readonly Role[] | 'all';
  /** An operator at a page: the secret of the session, its site, and the address of the browser. Absent for a token. */
  session?: { secret: string; site: Site; address: string };
  /** A developer at the portal: the hash of the session. */
  portal?: Buffer;
  /** The token of the call, or of a session of the portal. The audit log names that of an operator. */
  token_id?: string;
};

/** What the process of the caller has. */
export type Platform = {
  sql: Database;
  /** What takes two persons (FOUR_EYES). */
  fourEyes: FourEyes;
  /** Is there a store of pictures (PICTURE_STORE)? */
  keepsPictures: boolean;
  /** Opens the queues. */
  producer: () => Promise<Producer>;
  /** Opens the keys. @throws KeyError `no_key` in a process without keys */
  keys: () => Promise<KeyRing>;
  /** Stops a long run between two of its steps. */
  signal?: AbortSignal | undefined;
  /** Called after each step of a long run. */
  onProgress?: ((done: number, total: number) => void) | undefined;
};

/**
 * What an operation is given beside its input. It has no `sql`, because a second connection of the same pool could wait for
 * that of the transaction for ever, and no `keys`, because a slow key service would keep locks and a connection. `prepare`
 * and `after` are given both.
 */
export type Context = Omit<Platform, 'sql' | 'keys'> & {
  caller: Caller;
  /** The approval that this run uses up. */
  approval: ApprovalRow | undefined;
};

/** What an operation uses outside its transaction alone. */
export type Outside = Pick<Platform, 'sql' | 'keys'>;

/** What a caller gives an operation: its input, and the approval that it uses. */
export type Given<Schema extends z.ZodType> = z.input<Schema> & { approval_id?: string | undefined };

/** An entry of the audit log. The caller, the action and the subject of the operation are its defaults. */
export type AuditNote = Partial<AuditEntry>;

/** The type of a method: operations of different inputs stand in one list (`AnyOperation`). */
type RightOf<Input> = { of(input: Input): Right }['of'];

export type Operation<Schema extends z.ZodType, Result, Final, Prepared = unknown> = {
  /** `<subject>.<verb>`. The action in the audit log, unless `SHARED_ACTIONS` has another one. */
  name: OperationName;
  title: string;
  /** Who may do it. `own`: each operator, for the own sign-in. `system`: the processes of the platform alone.
   * `application`: its developer alone. */
  right: Right | 'own' | 'system' | 'application' | RightOf<z.infer<Schema>>;
  /** The developer of the application that is the subject may do it too. */
  byApplication?: true;
  /**
   * How the caller must be known. Absent: a name that the command line claims is enough. `operator`: an operator, by a
   * session or a token. `session`: an operator who is signed in at a page, never by a token.
   */
  knownBy?: 'operator' | 'session';
  /** Where operators do it in person, as the end of a sentence. Such an operation takes more than a token. */
  notByToken?: string;
  input: Schema;
  /** What the audit log names: `<kind>:<id>`. */
  subject(input: z.infer<Schema>, given: { sql: Queryable; caller: Caller }): string | Promise<string>;
  /** Takes two persons if FOUR_EYES says so. Callers then give `approval_id` beside the input. */
  secondPerson?: {
    kind: ApprovalKind;
    /** Present if the kind depends on the input. Called after `lockVersion`. */
    kindOf?(tx: Queryable, input: z.infer<Schema>): Promise<ApprovalKind | null>;
    /** Locks what is approved and reads its version. Null: there is nothing to do, and so nothing to approve. */
    lockVersion(tx: Queryable, input: z.infer<Schema>, caller: Caller): Promise<string | null>;
  };
  /** One of its statements may take minutes, because it withdraws millions of games. */
  isLong?: true;
  /**
   * Calls the key service, before each attempt of the transaction. `run` throws a TransactionRestart if `prepared` is
   * outdated.
   */
  prepare?(input: z.infer<Schema>, outside: Outside): Promise<Prepared>;
  /** Makes the change. Runs again if Postgres ended the transaction for a deadlock. */
  run(tx: Queryable, input: z.infer<Schema>, context: Context & { prepared: Prepared }): Promise<Result>;
  /** The entries of the audit log. Default: one, without reason and details. None: nothing was changed. */
  log?(result: Result, input: z.infer<Schema>, context: Context): AuditNote | readonly AuditNote[];
  /** What follows the commit, such as jobs. If it throws, the change and its entries stay. */
  after?(result: Result, input: z.infer<Schema>, context: Context & Outside): Promise<Final>;
  /** What the operator API answers with. Absent: no token may do it. */
  answer?: z.ZodType;
  /** Why nothing was done, although nothing failed. */
  refusal?(final: Final): string | undefined;
};

export type AnyOperation = Operation<z.ZodType, unknown, unknown>;

/** Defines an operation. Its types come from its parts. */
export const defineOperation = <Schema extends z.ZodType, Result, Final = Result, Prepared = unknown>(
  operation: Operation<Schema, Result, Final, Prepared>,
): Operation<Schema, Result, Final> => operation;

/** The caller may not do this. */
export class ForbiddenError extends CatalogueError {
  override readonly name = 'ForbiddenError';
}
