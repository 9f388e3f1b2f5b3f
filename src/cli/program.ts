import { Command, CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { addHelpAfter, wrapsHelp } from '#src/cli/kit/help.ts';
import { bindInvocation, findInvocation, type Invocation } from '#src/cli/kit/invocation.ts';
import { describeVersion } from '#src/cli/kit/version.ts';
import { toPrintable } from '#src/lib/printable.ts';

const loadProcesses = () => import('#src/cli/commands/processes.ts');

/** The summary and the file of each command. Only the file of the called command is loaded. */
const COMMANDS: Record<string, [string, () => Promise<{ register: (program: Command) => void }>]> = {
  demo: ['run everything embedded, with sample applications', () => import('#src/cli/commands/demo.ts')],
  up: ['run worker, API, media, console and KYC desk in one process', loadProcesses],
  worker: ['run one worker of the fleet', loadProcesses],
  api: ["run the platform's own API", loadProcesses],
  console: ['run the web console, with Bull Board', loadProcesses],
  media: ['run one worker of the picture jobs', loadProcesses],
  'kyc-desk': ['run the KYC desk, the only web process with keys', loadProcesses],
  migrate: ['migrate the database and the queue schema', loadProcesses],
  app: ['register, show, pause, resume and remove applications', () => import('#src/cli/commands/app.ts')],
  apply: ['make applications and reasons what a file says', () => import('#src/cli/commands/apply.ts')],
  sync: ['pull the games of applications now', () => import('#src/cli/commands/sync.ts')],
  pull: ['pull the details of single games now', () => import('#src/cli/commands/pull.ts')],
  kyc: ['pull, show, accept, erase and reseal KYC records', () => import('#src/cli/commands/kyc.ts')],
  run: ['show runs', () => import('#src/cli/commands/run.ts')],
  failure: ['show and retry games that were not stored', () => import('#src/cli/commands/failure.ts')],
  queue: ['show, pause and resume the queues', () => import('#src/cli/commands/queue.ts')],
  game: ['review, import and export games', () => import('#src/cli/commands/game.ts')],
  decision: ['export decisions', () => import('#src/cli/commands/decision.ts')],
  review: ['show the games that wait for a decision', () => import('#src/cli/commands/review.ts')],
  picture: ['verify and fill the store of pictures', () => import('#src/cli/commands/picture.ts')],
  event: ['show and retry the events of applications', () => import('#src/cli/commands/event.ts')],
  reason: ['reasons for which games are rejected', () => import('#src/cli/commands/reason.ts')],
  approval: ['show what waits for a second person', () => import('#src/cli/commands/approval.ts')],
  token: ["create, list and revoke the API's tokens", () => import('#src/cli/commands/token.ts')],
  operator: ['add, list and disable operators of the console', () => import('#src/cli/commands/operator.ts')],
  audit: ['show and verify the audit log', () => import('#src/cli/commands/audit.ts')],
  openapi: ['print the OpenAPI 3.1 documents', () => import('#src/cli/commands/openapi.ts')],
  completion: [
    'print a completion script for bash, zsh or fish',
    async () => {
      const { registerCompletion } = await import('#src/cli/kit/completion.ts');
      return {
        register: (program) =>
          registerCompletion(program, () => createProgram(() => true, findInvocation(program))),
      };
    },
  ],
};

const EXAMPLES: [command: string, purpose: string][] = [
  ['npm run demo', 'start a demo, without any setup'],
  ['npx catalogue up', 'run everything on this machine'],
  ['npx catalogue app add --help', 'how to register an application'],
  ['npx catalogue sync acme --wait', 'pull the games of one application now'],
];
const NOTES = [
  'Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 partial or suspect, 4 already running.',
  'Environment: see .env.example.',
];

/** Lets every error of usage name the command that prints the help. */
const showHelpCommand = (command: CommandUnknownOpts, path: string): void => {
  command.showHelpAfterError(`Usage: ${path} --help`);
  for (const each of command.commands) showHelpCommand(each, `${path} ${each.name()}`);
};

/** Applications may give a game an id such as `-rf`. */
const hintDashes = (text: string): string =>
  text.startsWith("error: unknown option '-") ? '(If it is an id, write -- before the ids.)\n' : '';

/** The program with every command by name and summary, and with those that `isLoaded` names in full. */
export const createProgram = async (
  isLoaded: (name: string) => boolean,
  invocation: Invocation,
): Promise<Command> => {
  const { stdout, stderr } = invocation.stdio;
  const program = new Command('catalogue')
    .description('Game Catalogue: pulls the games and KYC records of every application into the platform.')
    .option('-V, --version', 'print the version and its commit')
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      // It repeats the argument that is wrong.
      outputError: (text, write) =>
        write(`${text}${hintDashes(text)}`.split('\n').map(toPrintable).join('\n')),
      // Undefined without a terminal, which commander allows and its types do not.
      getOutHelpWidth: () => stdout.columns as number,
      getErrHelpWidth: () => stderr.columns as number,
    })
    .configureHelp(wrapsHelp)
    .showSuggestionAfterError()
    .exitOverride();
  bindInvocation(program, invocation);
  program.on('option:version', () => {
    stdout.write(`${describeVersion()}\n`);
    throw new CommanderError(0, 'commander.version', '');
  });
  addHelpAfter(program, ({ item, text }) => [
    '',
    'Examples:',
    ...EXAMPLES.map(([command, purpose]) => item(`$ ${command}`, 34, purpose)),
    '',
    ...NOTES.map(text),
  ]);
  const find = (name: string): CommandUnknownOpts | undefined =>
    program.commands.find((each) => each.name() === name);
  for (const [name, [, load]] of Object.entries(COMMANDS)) {
    // A file may register several commands.
    if (isLoaded(name) && find(name) === undefined) (await load()).register(program);
  }
  for (const [name, [summary]] of Object.entries(COMMANDS)) {
    const command = find(name) ?? program.command(name);
    const details = command.description();
    command.summary(summary).description(details === '' ? summary : `${summary}\n\n${details}`);
  }
  showHelpCommand(program, 'npx catalogue');
  return program;
};
