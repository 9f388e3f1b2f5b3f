/** What every error of ours that reaches a person carries: an exit code of the CLI (design, section 9). */
export const EXIT = { done: 0, failed: 1, usage: 2, partial: 3, alreadyRunning: 4 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** An error whose message is written for its reader: one sentence of what is wrong and what to do next. */
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

/** A job that would fail the same way however often it is tried: BullMQ does not try it again. */
export class PermanentError extends CatalogueError {
  override readonly name = 'PermanentError';
}

/** Anything thrown, as an Error. */
export const coerceError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown));

/**
 * What may be said of an error in a queue, a log or a table: messages that we wrote ourselves, and no more
 * than the class and SQLSTATE of anything else, whose message may quote values.
 */
export const safeMessage = (error: Error): string => {
  if (error instanceof CatalogueError || error.name === 'WebhookError') return error.message;
  // What Redis answers begins with a code of its own: OOM, READONLY.
  const refusal = error.name === 'ReplyError' ? /^[A-Z]+/.exec(error.message)?.[0] : undefined;
  if (refusal !== undefined) return `Redis ${refusal}`;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[A-Z0-9_]{2,40}$/.test(code) ? `${error.name} ${code}` : error.name;
};

/** How the drivers of Postgres and Redis, and the sockets below them, say that there is no server to talk to. */
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

/** Does this error say that a server can't be reached, or that the connection to it broke? */
export const isUnreachable = (error: Error): boolean => UNREACHABLE.has((error as { code?: unknown }).code);
