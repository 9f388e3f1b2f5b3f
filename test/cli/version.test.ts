import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import manifest from '#package.json' with { type: 'json' };

const run = promisify(execFile);

/** A repository of something else, with this code in a directory. */
let outer: string;
let code: string;
beforeAll(async () => {
  outer = await mkdtemp(join(tmpdir(), 'catalogue-version-'));
  code = join(outer, 'code');
  await mkdir(code);
  await Promise.all([
    cp('src', join(code, 'src'), { recursive: true }),
    cp('package.json', join(code, 'package.json')),
    symlink(resolve('node_modules'), join(code, 'node_modules')),
    commit(outer),
  ]);
});
afterAll(() => rm(outer, { recursive: true }));

const commit = async (directory: string): Promise<string> => {
  const git = (...args: string[]) => run('git', ['-C', directory, ...args]);
  await git('init', '--quiet');
  await git(
    '-c',
    'user.name=kim',
    '-c',
    'user.email=kim@example',
    'commit',
    '--allow-empty',
    '--message=one',
  );
  return (await git('rev-parse', 'HEAD')).stdout;
};

const version = async (flag: string): Promise<string> =>
  (await run(process.execPath, [join(code, 'src/cli/catalogue.ts'), flag])).stdout;

it('prints the version alone without a commit of its own, also within another repository', async () => {
  expect(await version('--version')).toBe(`${manifest.version}\n`);
});

it('adds the commit of its checkout', async () => {
  const hash = await commit(code);
  expect(await version('-V')).toBe(`${manifest.version} (${hash.slice(0, 7)})\n`);
});

it('adds the commit that its image was built from, and none if the image does not know it', async () => {
  await writeFile(join(code, 'COMMIT'), '0123456789abcdef');
  expect(await version('--version')).toBe(`${manifest.version} (0123456)\n`);
  await writeFile(join(code, 'COMMIT'), '');
  expect(await version('--version')).toBe(`${manifest.version}\n`);
});
