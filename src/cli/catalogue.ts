#!/usr/bin/env node
import '#src/cli/kit/thread-pool-size.ts';
import { CommanderError } from '@commander-js/extra-typings';
import { createProgram } from '#src/cli/program.ts';
import { EXIT } from '#src/errors.ts';

const [firstArgument = '', secondArgument = ''] = process.argv.slice(2);
const commandName = firstArgument === 'help' ? secondArgument : firstArgument;
const program = await createProgram((name) => name === commandName);

// In `catalogue … | head`, head closes the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.done);
  throw error;
});

try {
  if (firstArgument === '') program.outputHelp();
  else await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
  if (process.exitCode === EXIT.usage && process.argv.includes('--json'))
    process.stdout.write(`${JSON.stringify({ error: error.message.replace(/^error: /, '') })}\n`);
}

// An open handle must not keep the process after the command ended.
setTimeout(() => process.exit(), 5_000).unref();
