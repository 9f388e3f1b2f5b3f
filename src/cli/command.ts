import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { isPostgresError, UNDEFINED_TABLE } from '#db/sqlstate.ts';
import { type CommandContext, createContext } from '#src/cli/context.ts';
import { createOutput } from '#src/cli/output.ts';
import { loadDotEnv, readConfig } from '#src/config.ts';
import { CatalogueError, coerceError, EXIT, type ExitCode, isUnreachable, safeMessage } from '#src/errors.ts';

/** Help texts of a command. `examples` are printed at the end, one a line. */
type CommandHelp = { summary: string; details?: string; examples: string[] };

/** Defines a command with its help texts and `--json`. Arguments, options and the action are chained to it. */
export const defineCommand = (
  parent: CommandUnknownOpts,
  name: string,
  { summary, details, examples }: CommandHelp,
) =>
  parent
    .command(name)
    .summary(summary)
    .description(details === undefined ? summary : `${summary}\n\n${details}`)
    .option('--json', 'print one JSON document on stdout')
    .addHelpText(
      'after',
      `\nExamples:\n${examples.map((example) => `  $ npx catalogue ${example}`).join('\n')}`,
    );

/** The message that a command prints for an error: the cause and what to do next. */
const explainError = (error: Error): string => {
  if (error instanceof CatalogueError) return error.message;
  if (isPostgresError(error, UNDEFINED_TABLE))
    return 'The database has no tables yet: run npx catalogue migrate.';
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

/**
 * Turns a handler into a commander action. The handler receives the context, the arguments and the options, and returns
 * the exit code (default 0). An error becomes one sentence on stderr, or `{ error }` with `--json`, and an exit code.
 */
export const withContext =
  <Arguments extends unknown[], Options extends { json?: true }>(
    handler: (
      context: CommandContext,
      ...args: [...Arguments, Options]
    ) => Promise<ExitCode | undefined> | Promise<void>,
  ) =>
  async (...given: [...Arguments, Options, CommandUnknownOpts]): Promise<void> => {
    const args = given.slice(0, -1) as [...Arguments, Options];
    const options = args.at(-1) as Options;
    const out = createOutput(options.json === true);
    try {
      loadDotEnv();
      await using resources = new AsyncDisposableStack();
      process.exitCode = (await handler(createContext(readConfig(), out, resources), ...args)) ?? EXIT.done;
    } catch (thrown) {
      const error = coerceError(thrown);
      const message = explainError(error);
      out.error(message);
      out.document({ error: message });
      process.exitCode = error instanceof CatalogueError ? error.exitCode : EXIT.failed;
    }
  };
