#!/usr/bin/env node
import '#src/cli/threads.ts';
import { Command, CommanderError } from 'commander';
import { EXIT } from '#src/errors.ts';

type Group = { summary: string; load: () => Promise<{ register: (program: Command) => void }> };

const roles = () => import('#src/cli/roles.ts');
const sync = () => import('#src/cli/sync.ts');

/** Every command, and the file that defines it: only the one that is called is loaded. */
const GROUPS: Record<string, Group> = {
  demo: {
    summary: 'see it work: embedded everything, sample applications, one visible sync',
    load: () => import('#src/cli/demo.ts'),
  },
  up: { summary: 'run worker, api and board in one process', load: roles },
  worker: { summary: 'run one worker of the fleet', load: roles },
  api: { summary: "run the platform's own API", load: roles },
  board: { summary: 'run Bull Board', load: roles },
  migrate: { summary: 'bring the database up to date', load: roles },
  app: {
    summary: 'register applications, look at them, pause and resume them',
    load: () => import('#src/cli/app.ts'),
  },
  sync: { summary: "pull applications' games now", load: sync },
  pull: { summary: 'pull the details of single games now', load: sync },
  kyc: { summary: "pull, show and re-seal developers' KYC records", load: () => import('#src/cli/kyc.ts') },
  run: { summary: 'look at runs', load: () => import('#src/cli/run.ts') },
  failure: {
    summary: 'see what did not land and why, and try again',
    load: () => import('#src/cli/failure.ts'),
  },
  queue: { summary: 'look at the queues, pause and resume them', load: () => import('#src/cli/queue.ts') },
  game: { summary: 'review games', load: () => import('#src/cli/game.ts') },
  token: { summary: "make and revoke the API's tokens", load: () => import('#src/cli/token.ts') },
  openapi: { summary: 'print the OpenAPI documents', load: () => import('#src/cli/openapi.ts') },
};

const program = new Command('catalogue')
  .description(
    "Game Catalogue: pulls every application's games and developer records into the platform's catalogue.",
  )
  .showHelpAfterError('(add --help for what may stand here)')
  .showSuggestionAfterError()
  .exitOverride()
  .configureOutput({ writeErr: (text) => process.stderr.write(text) })
  .addHelpText(
    'after',
    `
Examples:
  $ npm run demo                           see it work, with nothing to set up
  $ npx catalogue up                       run everything here
  $ npx catalogue app add --help           how to register an application
  $ npx catalogue sync acme --wait         pull one application's games now

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 partial or suspect, 4 already running.
Environment: see .env.example.`,
  );

const asked = process.argv[2] ?? '';
// `help sync` says what `sync --help` says.
const named = asked === 'help' ? (process.argv[3] ?? '') : asked;
const group = Object.hasOwn(GROUPS, named) ? GROUPS[named] : undefined;
if (group !== undefined) (await group.load()).register(program);
for (const [name, { summary }] of Object.entries(GROUPS)) {
  if (program.commands.every((command) => command.name() !== name)) program.command(name).summary(summary);
}

// A reader that closes early (`… | head`) is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.done);
  throw error;
});

try {
  if (asked === '') {
    program.outputHelp();
  } else {
    await program.parseAsync();
  }
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
  const wrong = process.exitCode !== EXIT.done && process.argv.includes('--json');
  if (wrong) process.stdout.write(`${JSON.stringify({ error: error.message.replace(/^error: /, '') })}\n`);
}

// A command that has ended leaves nothing open; should it ever, the terminal must not wait for it.
setTimeout(() => process.exit(), 5_000).unref();
