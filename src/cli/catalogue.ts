#!/usr/bin/env node
import '#src/cli/thread-pool-size.ts';
import { Command, CommanderError } from '@commander-js/extra-typings';
import manifest from '#package.json' with { type: 'json' };
import { type CommandName, SUMMARIES } from '#src/cli/summaries.ts';
import { EXIT } from '#src/errors.ts';

const loadRoles = () => import('#src/cli/roles.ts');
const loadSync = () => import('#src/cli/sync.ts');

/** The file of each command. Only the file of the called command is loaded. */
const FILES: Record<CommandName, () => Promise<{ register: (program: Command) => void }>> = {
  demo: () => import('#src/cli/demo.ts'),
  up: loadRoles,
  worker: loadRoles,
  api: loadRoles,
  board: loadRoles,
  migrate: loadRoles,
  app: () => import('#src/cli/app.ts'),
  sync: loadSync,
  pull: loadSync,
  kyc: () => import('#src/cli/kyc.ts'),
  run: () => import('#src/cli/run.ts'),
  failure: () => import('#src/cli/failure.ts'),
  queue: () => import('#src/cli/queue.ts'),
  game: () => import('#src/cli/game.ts'),
  token: () => import('#src/cli/token.ts'),
  openapi: () => import('#src/cli/openapi.ts'),
};

const isCommandName = (name: string): name is CommandName => Object.hasOwn(FILES, name);

const program = new Command('catalogue')
  .description('Game Catalogue: pulls the games and KYC records of every application into the platform.')
  .version(manifest.version)
  .showHelpAfterError('(add --help for usage)')
  .showSuggestionAfterError()
  .exitOverride()
  .addHelpText(
    'after',
    `
Examples:
  $ npm run demo                           start a demo, without any setup
  $ npx catalogue up                       run everything on this machine
  $ npx catalogue app add --help           how to register an application
  $ npx catalogue sync acme --wait         pull the games of one application now

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 partial or suspect, 4 already running.
Environment: see .env.example.`,
  );

const [firstArgument = '', secondArgument = ''] = process.argv.slice(2);
const commandName = firstArgument === 'help' ? secondArgument : firstArgument;
if (isCommandName(commandName)) (await FILES[commandName]()).register(program);
for (const [name, summary] of Object.entries(SUMMARIES)) {
  if (program.commands.every((command) => command.name() !== name)) program.command(name).summary(summary);
}

// The reader of a pipe may close it early: `catalogue … | head`.
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
