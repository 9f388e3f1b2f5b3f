import type { Command, CommandUnknownOpts } from '@commander-js/extra-typings';
import { INVALID_PASSWORD, isPostgresError, UNDEFINED_TABLE } from '#db/sqlstate.ts';
import { type CommandContext, createContext } from '#src/cli/context.ts';
import { addHelpAfter } from '#src/cli/help.ts';
import { CatalogueError, coerceError, EXIT, type ExitCode, isUnreachable, safeMessage } from '#src/errors.ts';

type Json = { json?: true };
/** The exit code, by default 0. */
type Result = Promise<ExitCode | undefined> | Promise<void>;

type Definition<Arguments extends unknown[], Options extends Json> = {
  /** One line. Commands of the first level have theirs in catalogue.ts. */
  summary?: string;
  details?: string;
  /** Printed after the help, one a line. */
  examples: string[];
  /** On a terminal, long output is shown in a pager. */
  paged?: boolean;
  /** Adds the arguments and options. */
  parameters?: (command: Command<[], Json>) => Command<Arguments, Options>;
  run: (context: CommandContext, ...given: [...Arguments, Options]) => Result;
};

/** The message that a command prints for an error: the cause and what to do next. */
const explainError = (error: Error): string => {
  if (error instanceof CatalogueError) return error.message;
  if (isPostgresError(error, UNDEFINED_TABLE))
    return 'The database has no tables yet: run npx catalogue migrate.';
  if (isPostgresError(error, INVALID_PASSWORD))
    return `Postgres refused the sign-in: ${error.message}. Check the user and the password of DATABASE_URL, or of the DATABASE_URL_… of this process.`;
  if (isPostgresError(error)) return `Postgres reported an error: ${error.message} (${error.code}).`;
  if (isUnreachable(error)) {
    const { code, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
    const server = address === undefined ? 'A server' : `The server at ${address}:${port}`;
    return `${server} is unreachable (${code}): check DATABASE_URL and REDIS_URL, and that the servers run.`;
  }
  if (error.name === 'MaxRetriesPerRequestError')
    return 'Redis is unreachable: check REDIS_URL, and that the server runs.';
  return `Internal error, please report it: ${safeMessage(error)}\n${error.stack ?? ''}`;
};

/** Runs a command. An error becomes one sentence on stderr, or `{ error }` with `--json`, and an exit code. */
const runCommand = async (
  mode: { json: boolean; paged: boolean },
  run: (context: CommandContext) => Result,
): Promise<void> => {
  // Not loaded for --help: they load zod.
  const { createOutput } = await import('#src/cli/output.ts');
  const { configFor, loadDotEnv, readConfig } = await import('#src/config.ts');
  const out = createOutput(mode);
  try {
    loadDotEnv();
    const config = readConfig();
    await using resources = new AsyncDisposableStack();
    process.exitCode =
      (await run(createContext({ shared: config, config: configFor(config, 'operator') }, out, resources))) ??
      EXIT.done;
    await out.showPaged(config.pager);
  } catch (thrown) {
    const error = coerceError(thrown);
    const message = explainError(error);
    out.error(message);
    out.document({ error: message });
    process.exitCode = error instanceof CatalogueError ? error.exitCode : EXIT.failed;
  }
};

/** Defines a command with its help, `--json` and its action. */
export const defineCommand = <Arguments extends unknown[] = [], Options extends Json = Json>(
  parent: CommandUnknownOpts,
  name: string,
  { summary = '', details = '', examples, paged = false, parameters, run }: Definition<Arguments, Options>,
): void => {
  const command = parent
    .command(name)
    .summary(summary)
    .description([summary, details].filter((text) => text !== '').join('\n\n'))
    .option('--json', 'print one JSON document on stdout');
  addHelpAfter(command, ({ shell }) => [
    '',
    'Examples:',
    ...examples.map((each) => `  ${shell(`$ npx catalogue ${each}`)}`),
  ]);
  parameters?.(command);
  command.action((...given: unknown[]) => {
    // commander calls an action with the arguments, the options and the command.
    const args = given.slice(0, -1) as [...Arguments, Options];
    const json = (args.at(-1) as Options).json === true;
    return runCommand({ json, paged }, (context) => run(context, ...args));
  });
};
