import { explainServerFault, findServerFault } from '#src/server-faults.ts';

/** Exit codes of the CLI. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  partial: 3,
  alreadyRunning: 4,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** An error whose message goes to the user: what is wrong and what to do next. */
export class CatalogueError extends Error {
  override readonly name: string = 'CatalogueError';
  readonly exitCode: ExitCode;

  constructor(message: string, options: { exitCode?: ExitCode; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.exitCode = options.exitCode ?? EXIT.failed;
  }
}

/** Wrong arguments or environment: exit 2. */
export class UsageError extends CatalogueError {
  override readonly name = 'UsageError';

  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { ...options, exitCode: EXIT.usage });
  }
}

/** The present state does not allow it: exit 2, because another command comes first. */
export class StateError extends CatalogueError {
  override readonly name = 'StateError';

  constructor(message: string) {
    super(message, { exitCode: EXIT.usage });
  }
}

/** What people name by an id. */
export type NamedThing =
  | 'application'
  | 'game'
  | 'run'
  | 'operator'
  | 'token'
  | 'reason'
  | 'approval'
  | 'event'
  | 'subscription'
  | 'queue'
  | 'decision'
  | 'batch';

/** There is nothing of this id. */
export class NotFoundError extends CatalogueError {
  override readonly name = 'NotFoundError';
  readonly thing: NamedThing;
  readonly id: string;

  constructor(thing: NamedThing, id: string) {
    super(`There is no ${thing} "${id}".`, { exitCode: EXIT.usage });
    this.thing = thing;
    this.id = id;
  }
}

/** An error that a retry cannot fix, so BullMQ does not retry the job. */
export class PermanentError extends CatalogueError {
  override readonly name = 'PermanentError';
}

/** Converts a thrown value to an Error. */
export const coerceError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown));

/**
 * The text of an error that a queue, a log or a table may keep: the message of our own errors; of others only the
 * class, the code, and our words for a fault of Postgres or Redis, because their messages may quote values.
 */
export const safeMessage = (error: Error): string => {
  if (error instanceof CatalogueError || error.name === 'CallError') return error.message;
  const fault = findServerFault(error);
  if (fault !== undefined) return fault.what;
  // Replies of Redis begin with a code.
  const reply = error.name === 'ReplyError' ? /^[A-Z]+/.exec(error.message)?.[0] : undefined;
  if (reply !== undefined) return `Redis ${reply}`;
  const { code } = error as { code?: unknown };
  if (isUnreachable(error)) return `Postgres, Redis or a service of the platform is unreachable (${code})`;
  return typeof code === 'string' && /^[A-Z0-9_]{2,40}$/.test(code) ? `${error.name} ${code}` : error.name;
};

/** In sentences without secrets: what is wrong with Postgres or Redis and what to do, or the message of another error. */
export const explainThrown = (thrown: unknown): string => {
  const error = coerceError(thrown);
  return explainServerFault(error) ?? `${safeMessage(error)}.`;
};

/** Codes of the Postgres and Redis drivers, and of sockets, when a server is unreachable. */
const UNREACHABLE: ReadonlySet<unknown> = new Set([
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/** Does this error mean that a server is unreachable, or that the connection to it broke? */
export const isUnreachable = (error: Error): boolean => UNREACHABLE.has((error as { code?: unknown }).code);

/** Is this the error of a job whose data or options are not JSON of ours, because another program wrote it? */
export const isUnreadableJob = (error: unknown): boolean =>
  error instanceof SyntaxError || error instanceof TypeError;

/** Is this the error of one queue, because another program wrote its jobs or keys? Other faults of Redis are of all queues. */
export const isOfAnotherProgram = (error: Error): boolean =>
  isUnreadableJob(error) ||
  (error.name === 'ReplyError' &&
    (error.message.startsWith('WRONGTYPE') || findServerFault(error) === undefined));
