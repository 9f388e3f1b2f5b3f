import { CommanderError } from '@commander-js/extra-typings';
import type { Invocation } from '#src/cli/kit/invocation.ts';
import { createProgram } from '#src/cli/program.ts';
import { EXIT, type ExitCode } from '#src/errors.ts';
import { escapeUnprintable } from '#src/lib/printable.ts';

/** Runs the command that `argv` names. @returns its exit code */
export const runCli = async (
  argv: readonly string[],
  surroundings: Omit<Invocation, 'argv' | 'exitCode'>,
): Promise<ExitCode> => {
  const invocation: Invocation = { ...surroundings, argv, exitCode: EXIT.done };
  const [firstArgument = '', secondArgument = ''] = argv;
  const commandName = firstArgument === 'help' ? secondArgument : firstArgument;
  const program = await createProgram((name) => name === commandName, invocation);
  try {
    if (firstArgument === '') program.outputHelp();
    else await program.parseAsync(argv, { from: 'user' });
    return invocation.exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.done;
    if (argv.includes('--json')) {
      const document = JSON.stringify({ error: error.message.replace(/^error: /, '') });
      invocation.stdio.stdout.write(`${escapeUnprintable(document)}\n`);
    }
    return EXIT.usage;
  }
};
