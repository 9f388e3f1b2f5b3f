import type { Readable, Writable } from 'node:stream';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { ExitCode } from '#src/errors.ts';

/** The streams of a command. Columns and rows are absent if stdout is no terminal. */
export type Stdio = {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean; columns?: number; rows?: number };
  stderr: Writable & { isTTY?: boolean; columns?: number; rows?: number };
};

/** One call of the command line: by its process, or by a test. */
export type Invocation = {
  /** The words after `catalogue`. */
  argv: readonly string[];
  readEnvironment: () => Promise<NodeJS.ProcessEnv>;
  stdio: Stdio;
  exitCode: ExitCode;
};

const invocations = new WeakMap<CommandUnknownOpts, Invocation>();

/** Binds a program to its invocation, which its commands find. */
export const bindInvocation = (program: CommandUnknownOpts, invocation: Invocation): void => {
  invocations.set(program, invocation);
};

/** Returns the invocation of the program that a command belongs to. */
export const findInvocation = (command: CommandUnknownOpts): Invocation => {
  let program = command;
  while (program.parent !== null) program = program.parent;
  const invocation = invocations.get(program);
  if (invocation === undefined) throw new Error(`${program.name()} is not bound to an invocation`);
  return invocation;
};
