// Every command that a page or an alert names exists, with its arguments and options.
import { readdir, readFile, stat } from 'node:fs/promises';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { describe, expect, test } from 'vitest';
import { createProgram } from '#src/cli/program.ts';

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  ...(await readdir('docs')).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`),
].filter((page) => page !== 'docs/reference.md');

const program = await createProgram(() => true, {
  stdio: process,
  argv: [],
  readEnvironment: async () => ({}),
  exitCode: 0,
});
const { scripts }: { scripts: Record<string, string> } = JSON.parse(await readFile('package.json', 'utf8'));

const find = (command: CommandUnknownOpts, name = ''): CommandUnknownOpts | undefined =>
  command.commands.find((each) => each.name() === name);

/** What the pages have between backquotes, and the lines of their shell blocks. */
const readCode = async (page: string): Promise<string[]> => {
  const content = (await readFile(page, 'utf8')).replaceAll(/\\\n\s*/g, '');
  const blocks = [...content.matchAll(/^```(?:sh.*)?\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
    block.split('\n'),
  );
  const spans = [...content.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`\n]+)`/g)];
  return [...blocks, ...spans.map(([, span = '']) => span)];
};

/** The commands of ours in one line: each begins with `catalogue`, or with a command and its subcommand. */
const commandsIn = (code: string): string[][] =>
  code.split(/[|;&(]+|\s>+\s?|<\s/).flatMap((part) => {
    const words = part.trim().replace(/\).*$/, '').split(/\s+/);
    const named = words.findIndex(
      (word, at) => word === 'catalogue' && [undefined, 'npx', 'until', '--'].includes(words[at - 1]),
    );
    if (named >= 0) return [words.slice(named + 1)].filter(([name = '…']) => name !== '…');
    const command = find(program, words[0]);
    return command !== undefined && find(command, words[1]) !== undefined ? [words] : [];
  });

/** What is wrong with a command; undefined if it could be called. */
const findFault = (words: string[]): string | undefined => {
  let command: CommandUnknownOpts = program;
  const rest = [...words];
  for (let next = find(command, rest[0]); next !== undefined; next = find(command, rest[0])) {
    command = next;
    rest.shift();
  }
  if (command === program || command.commands.length > 0) return `there is no command ${words.join(' ')}`;
  const given: string[] = [];
  while (rest.length > 0) {
    const word = rest.shift() ?? '';
    if (!word.startsWith('--')) {
      given.push(word);
      continue;
    }
    const option = command.options.find(({ long }) => long === word);
    if (option === undefined) return `${command.name()} has no option ${word}`;
    if (option.required) rest.shift();
  }
  const needed = command.registeredArguments.filter(({ required }) => required).length;
  const isWhole = given.length > 0 && !words.includes('…');
  return isWhole && given.length < needed ? `${words.join(' ')} lacks an argument` : undefined;
};

describe.each(PAGES)('%s', (page) => {
  test('names commands of ours that exist, with their arguments and options', async () => {
    const faults = (await readCode(page)).flatMap(commandsIn).map(findFault);
    expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
  });

  test('names scripts and programs of the project that exist', async () => {
    const code = (await readCode(page)).join('\n');
    for (const [, script = ''] of code.matchAll(/npm run (?:--silent )?([\w:-]+)/g))
      expect(Object.keys(scripts), `${page}: npm run ${script}`).toContain(script);
    for (const [, path = ''] of code.matchAll(/(?:^|\s)(?:node|vitest run) ((?:test|src)\/[\w./-]+)/g))
      await expect(
        stat(path).catch(() => stat(`${path}.test.ts`)),
        `${page}: ${path}`,
      ).resolves.toBeDefined();
  });
});

test('the pages name a hundred commands', async () => {
  const all = await Promise.all(PAGES.map(readCode));
  expect(all.flat().flatMap(commandsIn).length).toBeGreaterThan(100);
});

test('a command that is not there, and an option and an argument that it lacks, are faults', () => {
  expect(
    ['app lost', 'app show acme --lost', 'game why acme'].map((line) => findFault(line.split(' '))),
  ).toEqual(['there is no command app lost', 'show has no option --lost', 'game why acme lacks an argument']);
});
