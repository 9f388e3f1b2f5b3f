import type { Command } from 'commander';
import { isPostgresError, UNDEFINED_TABLE } from '#db/sqlstate.ts';
import { createOutput, type Output } from '#src/cli/output.ts';
import { type Config, loadDotEnv, readConfig } from '#src/config.ts';
import {
  CatalogueError,
  coerceError,
  EXIT,
  type ExitCode,
  isUnreachable,
  safeMessage,
  UsageError,
} from '#src/errors.ts';

/** What a command's action works with. */
export type CommandContext = { config: Config; out: Output };

type Action<Arguments extends unknown[], Options> = (
  context: CommandContext,
  options: Options,
  ...args: Arguments
) => Promise<ExitCode | undefined>;

/** A command's words: `examples` stand at the end of its help, one a line. */
type Words = { summary: string; examples: string[]; details?: string };

/**
 * Define one command: its words, its options, `--json`, and an action whose errors become one sentence and an
 * exit code. Arguments and further options are added on what is returned.
 */
export const defineCommand = (
  parent: Command,
  usage: string,
  { summary, examples, details }: Words,
): Command => {
  const command = parent
    .command(usage)
    .summary(summary)
    .description(details === undefined ? summary : `${summary}\n\n${details}`)
    .option('--json', 'answer with one JSON document on stdout')
    .addHelpText(
      'after',
      `\nExamples:\n${examples.map((example) => `  $ npx catalogue ${example}`).join('\n')}`,
    );
  return command;
};

/** Give a command its action. The last two things commander hands over are the options and the command. */
export const act = <Arguments extends unknown[], Options extends { json?: boolean }>(
  command: Command,
  action: Action<Arguments, Options>,
): void => {
  command.action(async (...given: unknown[]) => {
    const args = given.slice(0, -2) as Arguments;
    const options = given.at(-2) as Options;
    const out = createOutput(options.json === true);
    try {
      loadDotEnv();
      const config = readConfig();
      process.exitCode = (await action({ config, out }, options, ...args)) ?? EXIT.done;
    } catch (thrown) {
      process.exitCode = report(out, coerceError(thrown));
    }
  });
};

/** The sentence an error is worth to a person at a terminal. */
const explain = (error: Error): string => {
  if (error instanceof CatalogueError) return error.message;
  if (isPostgresError(error, UNDEFINED_TABLE)) {
    return 'The database has not been brought up to date: run npx catalogue migrate.';
  }
  if (isPostgresError(error)) return `Postgres refused: ${error.message} (${error.code}).`;
  if (isUnreachable(error)) {
    const { code, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
    const where = address === undefined ? '' : ` at ${address}:${port}`;
    return `Nothing answers${where} (${code}): check DATABASE_URL and REDIS_URL, and that the servers run.`;
  }
  if (error.name === 'MaxRetriesPerRequestError')
    return 'Redis does not answer: check REDIS_URL, and that the server runs.';
  return `This is a fault of the program, please report it: ${safeMessage(error)}\n${error.stack ?? ''}`;
};

const report = (out: Output, error: Error): ExitCode => {
  const message = explain(error);
  out.error(message);
  out.document({ error: message });
  return error instanceof CatalogueError ? error.exitCode : EXIT.failed;
};

/**
 * Where this command's database is: `DATABASE_URL`, else the embedded instance of this directory if one runs.
 * @throws UsageError that says what to start or set
 */
export const findDatabaseUrl = async (config: Config): Promise<string> => {
  if (config.databaseUrl !== undefined) return config.databaseUrl;
  const { findRunningInstance } = await import('#src/embedded/postgres.ts');
  const running = await findRunningInstance(config.home);
  if (running !== null) return running;
  throw new UsageError(
    `Nothing runs in ${config.home}: start it with npx catalogue up (or npm run demo), or set DATABASE_URL to use a fleet's database.`,
  );
};
