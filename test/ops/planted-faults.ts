// Plants faults, one at a time, in a copy of a checkout, and shows which of them the tests catch.
//
//   node test/ops/planted-faults.ts draw <count> <checkout> <checkout> > faults.json
//     draws mutants of Stryker's mutators that both checkouts have, from all of src, jobs and db
//   node test/ops/planted-faults.ts run before|after faults.json <checkout> <minutes> <command> [arguments]
//     runs a command against each of them, for at most this long, and prints one line each
import { execFile, spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Instrumenter } from '@stryker-mutator/instrumenter';
import { choicesFrom } from '#src/sample-application/random.ts';

const execute = promisify(execFile);

const SEED = 'issue 35';

type Mutant = { file: string; line: number; mutator: string; from: number; to: number; replacement: string };
/** A mutant with what identifies it in another version of the code: what it changes, and the lines around it. */
type Placed = Mutant & { key: string };
/** A fault, as it is planted in each of two checkouts. */
type Fault = { before: Mutant; after: Mutant };

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** Stryker's logger, which logs nothing. */
const silent = new Proxy({}, { get: () => () => false }) as ConstructorParameters<typeof Instrumenter>[0];

/** Lists the mutants of one file. */
const listMutants = async (root: string, file: string): Promise<Placed[]> => {
  const content = await readFile(join(root, file), 'utf8');
  const lines = content.split('\n');
  const offsetOf = ({ line, column }: { line: number; column: number }): number =>
    lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, column);
  const { mutants } = await new Instrumenter(silent).instrument([{ name: file, content, mutate: true }], {
    plugins: null,
    excludedMutations: [],
    ignorers: [],
    noHeader: true,
  });
  return mutants.map(({ location: { start, end }, mutatorName, replacement }) => {
    const around = lines.slice(Math.max(0, start.line - 1), end.line + 2).join('\n');
    return {
      file,
      line: start.line + 1,
      mutator: mutatorName,
      from: offsetOf(start),
      to: offsetOf(end),
      replacement,
      key: [mutatorName, oneLine(replacement), start.column, oneLine(around)].join('\0'),
    };
  });
};

/** The mutants of a checkout whose key occurs once, by key. */
const readMutants = async (root: string): Promise<Map<string, Mutant>> => {
  const files = globSync(['src/**/*.ts', 'jobs/**/*.ts', 'db/**/*.ts'], { cwd: root }).toSorted();
  const found = new Map<string, Mutant>();
  const repeated = new Set<string>();
  for (const file of files)
    for (const { key, ...mutant } of await listMutants(root, file)) {
      if (found.has(key)) repeated.add(key);
      found.set(key, mutant);
    }
  for (const key of repeated) found.delete(key);
  return found;
};

const draw = async (count: number, first: string, second: string): Promise<Fault[]> => {
  const [before, after] = [await readMutants(first), await readMutants(second)];
  const common = [...before.keys()].filter((key) => after.has(key)).toSorted();
  process.stderr.write(`${before.size} and ${after.size} mutants, ${common.length} in both\n`);
  const { below } = choicesFrom(SEED);
  return Array.from({ length: count }, () => {
    const [key = ''] = common.splice(below(common.length), 1);
    return { before: before.get(key) as Mutant, after: after.get(key) as Mutant };
  });
};

/** Runs a command in a directory. @returns how it ended, and the first line that names a failure */
const runTests = (cwd: string, [command = '', ...args]: readonly string[], limitMs: number) =>
  new Promise<{ outcome: 'caught' | 'survived' | 'timeout'; by: string }>((resolve) => {
    const child = spawn(command, args, { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
      });
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    }, limitMs);
    child.on('close', (code) => {
      clearTimeout(timer);
      const [, by = ''] = /FAIL\s+(.*)/.exec(output) ?? [];
      resolve({ outcome: late ? 'timeout' : code === 0 ? 'survived' : 'caught', by: by.trim() });
    });
  });

/** Copies the commit of a checkout, with its packages. */
const copyCheckout = async (checkout: string) => {
  const directory = await mkdtemp(join(tmpdir(), 'catalogue-faults-'));
  await execute('git', ['clone', '--quiet', checkout, directory]);
  await execute('cp', ['-a', join(checkout, 'node_modules'), directory]);
  return {
    directory,
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true, maxRetries: 20 }),
  };
};

const run = async (
  side: keyof Fault,
  faults: Fault[],
  checkout: string,
  minutes: number,
  command: string[],
) => {
  await using copy = await copyCheckout(checkout);
  for (const [index, fault] of faults.entries()) {
    const { file, line, mutator, from, to, replacement } = fault[side];
    const path = join(copy.directory, file);
    const code = await readFile(path, 'utf8');
    await writeFile(path, code.slice(0, from) + replacement + code.slice(to));
    const started = performance.now();
    const { outcome, by } = await runTests(copy.directory, command, minutes * 60_000);
    await writeFile(path, code);
    const seconds = Math.round((performance.now() - started) / 1_000);
    const what = oneLine(`${code.slice(from, to).slice(0, 40)} → ${replacement.slice(0, 40)}`);
    const cells = [index + 1, `${file}:${line}`, mutator, what, outcome, `${seconds} s`, by];
    process.stdout.write(`${cells.join(' | ')}\n`);
  }
};

const [mode, ...given] = process.argv.slice(2);
if (mode === 'draw') {
  const [count = '', first = '', second = ''] = given;
  process.stdout.write(`${JSON.stringify(await draw(Number(count), first, second), null, 2)}\n`);
} else if (mode === 'run') {
  const [side = '', file = '', checkout = '', minutes = '', ...command] = given;
  const faults: Fault[] = JSON.parse(await readFile(file, 'utf8'));
  await run(side as keyof Fault, faults, checkout, Number(minutes), command);
} else {
  process.stderr.write('Give draw or run: see the head of this file.\n');
  process.exitCode = 2;
}
