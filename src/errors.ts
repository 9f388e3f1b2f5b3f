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

/** Anything thrown, as an Error. */
export const coerceError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown));
