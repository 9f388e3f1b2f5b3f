import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

type LockedPackage = { link?: true; integrity?: string };

const root = new URL('../../', import.meta.url);

test('every package that npm ci installs, on any platform, has its integrity in the lock file', async () => {
  const lock = JSON.parse(await readFile(new URL('package-lock.json', root), 'utf8'));
  const packages = Object.entries<LockedPackage>(lock.packages).filter(
    ([path, { link }]) => path.includes('node_modules/') && link === undefined,
  );
  const paths = packages.map(([path]) => path);
  for (const platform of ['linux-x64', 'win-x64']) expect(paths).toContain(`node_modules/node-${platform}`);
  expect(packages.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path)).toEqual([]);
});

test('no package installs another one by a script of its own', async () => {
  const { allowScripts } = JSON.parse(await readFile(new URL('package.json', root), 'utf8'));
  expect(allowScripts).not.toHaveProperty('node');
});
