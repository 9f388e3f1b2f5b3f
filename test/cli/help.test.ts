import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import stringWidth from 'string-width';
import { expect, it, onTestFinished } from 'vitest';
import { createProgram } from '#src/cli/program.ts';
import { runCli } from '#test/support/cli.ts';
import { openTerminal, terminalTest } from '#test/support/terminal.ts';

const run = promisify(execFile);

/** Every command and group, by its words. */
const readTree = (
  command: CommandUnknownOpts,
  path: string,
): [path: string, command: CommandUnknownOpts][] => [
  [path, command],
  ...command.commands.flatMap((each) => readTree(each, `${path} ${each.name()}`)),
];
const program = await createProgram(() => true, {
  argv: [],
  stdio: process,
  readEnvironment: async () => ({}),
  exitCode: 0,
});
const tree = readTree(program, 'catalogue');

/** The help for a terminal of this many columns; undefined: for a pipe. */
const helpAt = (command: CommandUnknownOpts, columns: number | undefined): string => {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => columns as number });
  command.outputHelp();
  return help;
};
/** The words, without the backslashes that continue a line. */
const wordsOf = (help: string): string => help.replaceAll(/ \\$/gm, '').replaceAll(/\s+/g, ' ').trim();

it.each(tree)('help of %s fits 60 columns, cuts no word and explains every option', (_path, command) => {
  const help = helpAt(command, 60);
  for (const line of help.split('\n')) expect(stringWidth(line), line).toBeLessThanOrEqual(60);
  expect(wordsOf(help)).toBe(wordsOf(helpAt(command, 10_000)));
  for (const { flags, description } of command.options) {
    expect(description, flags).not.toBe('');
    expect(wordsOf(help)).toContain(wordsOf(`${flags} ${description}`));
  }
  for (const argument of command.registeredArguments)
    expect(argument.description, argument.name()).not.toBe('');
  for (const each of command.commands) expect(each.summary(), each.name()).not.toBe('');
});

it.each(tree.filter(([, command]) => command.commands.length === 0))(
  'help of %s shows examples, each on one line in a pipe, and --json',
  (path, command) => {
    const help = helpAt(command, undefined);
    expect(help).toContain(`Usage: ${path}`);
    expect(help).toContain('--json');
    expect(help).toMatch(new RegExp(`Examples:\n  \\$ npx ${path}`));
    expect(help).not.toContain('\\');
  },
);

terminalTest(
  'a terminal of 60 columns shows help without a line that it wraps, and its examples can be pasted',
  async () => {
    const terminal = await openTerminal({ columns: 60, rows: 100 });
    onTestFinished(() => terminal.close());
    for (const command of ['game package --help', 'app update --help', '--help', 'help sync']) {
      const { screen, exit } = await terminal.run(`catalogue ${command}`);
      expect(exit).toBe(0);
      for (const line of screen.split('\n')) expect(stringWidth(line), line).toBeLessThanOrEqual(60);
    }
    const { screen } = await terminal.run('catalogue game package --help');
    const example = /\$ npx (catalogue game package .* \\\n.*)$/m.exec(screen)?.[1] ?? '';
    const args = await run('bash', ['-c', `catalogue() { echo "$*"; }; ${example}`]);
    expect(args.stdout).toBe('game package 019a… --url https://cdn.example/game.zip --by kim\n');
  },
);

it('help lists every command, the exit codes and .env.example, with --help and without arguments', async () => {
  const [help, nothing] = await Promise.all([runCli(['--help']), runCli([])]);
  for (const { exit, stdout } of [help, nothing]) {
    expect(exit).toBe(0);
    for (const group of program.commands.map((each) => each.name()))
      expect(stdout).toMatch(new RegExp(`^  ${group}\\b`, 'm'));
    expect(stdout).toContain('Exit codes: 0 done, 1 failed, 2 wrong usage');
    expect(stdout).toContain('.env.example');
  }
});

it('help of a command goes to stdout, with exit code 0', async () => {
  const { exit, stdout, stderr } = await runCli(['sync', '--help']);
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
  expect(stdout).toContain('Usage: catalogue sync');
});

it.for(['sync', 'game', 'migrate'])('help of %s is the same with --help and after help', async (command) => {
  const [help, option] = await Promise.all([runCli(['help', command]), runCli([command, '--help'])]);
  expect(help).toEqual(option);
  expect(help).toMatchObject({ exit: 0, stderr: '' });
});
