import type { Command, CommandUnknownOpts } from '@commander-js/extra-typings';
import { type CommandContext, createContext } from '#src/cli/kit/context.ts';
import { addHint, explainError } from '#src/cli/kit/explain-error.ts';
import { addHelpAfter } from '#src/cli/kit/help.ts';
import { findInvocation, type Invocation } from '#src/cli/kit/invocation.ts';
import { CatalogueError, coerceError, EXIT, type ExitCode } from '#src/errors.ts';

export type Json = { json?: true };
/** The exit code, by default 0. */
type Result = Promise<ExitCode | undefined> | Promise<void>;

export type Help = {
  /** One line. Commands of the first level have theirs in src/cli/program.ts. */
  summary?: string;
  details?: string;
  /** Printed after the help, one a line. */
  examples: string[];
  /** On a terminal, long output is shown in a pager. */
  paged?: boolean;
};

type Definition<Arguments extends unknown[], Options extends Json> = Help & {
  /** Adds the arguments and options. */
  parameters?: (command: Command<[], Json>) => Command<Arguments, Options>;
  run: (context: CommandContext, ...given: [...Arguments, Options]) => Result;
};

/** Runs a command. An error becomes one sentence on stderr, or `{ error }` with `--json`, and an exit code. */
const runCommand = async (
  invocation: Invocation,
  mode: { json: boolean; paged: boolean },
  run: (context: CommandContext) => Result,
): Promise<void> => {
  // Imported here because they load zod, which --help does not need.
  const { createOutput } = await import('#src/cli/kit/output.ts');
  const { configFor, embeddedConfig, readConfig } = await import('#src/config.ts');
  const out = createOutput(invocation.stdio, mode);
  try {
    const env = await invocation.readEnvironment();
    const config = readConfig(env);
    const own = embeddedConfig(configFor(config, 'operator'));
    await using resources = new AsyncDisposableStack();
    const configs = { shared: config, config: own };
    const context = createContext(configs, { argv: invocation.argv, env }, out, resources);
    invocation.exitCode = (await runWithHints(context, run)) ?? EXIT.done;
    await out.showPaged(config.pager);
  } catch (thrown) {
    const error = coerceError(thrown);
    const message = explainError(error);
    out.error(message);
    out.document({ error: message });
    invocation.exitCode = error instanceof CatalogueError ? error.exitCode : EXIT.failed;
  }
};

/** Runs a command and adds hints to its errors while its connections are still open, because a hint may need them. */
const runWithHints = async (context: CommandContext, run: (context: CommandContext) => Result) => {
  try {
    return await run(context);
  } catch (thrown) {
    throw await addHint(coerceError(thrown), context.openDatabase);
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
    return runCommand(findInvocation(command), { json, paged }, (context) => run(context, ...args));
  });
};
