#!/usr/bin/env node
import '#src/cli/kit/thread-pool-size.ts';
import { runCli } from '#src/cli/run-cli.ts';
import { EXIT } from '#src/errors.ts';

process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  // In `catalogue … | head`, head closes the pipe early.
  if (code === 'EPIPE') process.exit(EXIT.done);
  process.stderr.write(`catalogue: The output cannot be written (${code}).\n`);
  process.exit(EXIT.failed);
});
// A command does its work without a reader of its notes.
process.stderr.on('error', () => {});

process.exitCode = await runCli(process.argv.slice(2), {
  stdio: process,
  // The file is not loaded for --help, because it loads zod.
  readEnvironment: async () => (await import('#src/config-file.ts')).loadEnvironment(),
});

// An open handle must not keep the process after the command ended.
setTimeout(() => process.exit(), 5_000).unref();
