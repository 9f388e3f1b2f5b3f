import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { dataPlaceOf, isRoot, makeHome, makeNewHome, start, startOwner } from '#test/support/homes.ts';

describe('what a crash of the machine leaves', () => {
  test('A postmaster.pid whose number belongs to another process now is removed, and that process keeps running', async () => {
    const home = await makeHome();
    await (await start(home)).stop();
    const user = isRoot ? await ownerOf(join(await dataPlaceOf(home), 'data')) : {};
    const bystander = spawn('sleep', ['600'], { stdio: 'ignore', ...user });
    await once(bystander, 'spawn');
    onTestFinished(() => void bystander.kill());
    await leavePidFile(home, bystander.pid ?? 0);

    await start(home);
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
  });

  test('A postmaster.pid of a process that is gone does not prevent the start', async () => {
    const home = await makeHome();
    await (await start(home)).stop();
    const gone = spawn('true');
    await once(gone, 'exit');
    await leavePidFile(home, gone.pid ?? 0);
    await start(home);
  });

  test('A data directory that was only half made is made again', async () => {
    const home = await makeNewHome();
    const first = startOwner(home);
    // The password file is there for as long as initdb works.
    await expect.poll(() => halfMade(home), { interval: 2 }).toBe(true);
    await first.end('SIGKILL');
    await start(home);
  });
});

const ownerOf = async (path: string) => {
  const { uid, gid } = await stat(path);
  return { uid, gid };
};

const leavePidFile = async (home: string, pid: number): Promise<void> => {
  const data = join(await dataPlaceOf(home), 'data');
  await writeFile(join(data, 'postmaster.pid'), `${pid}\n${data}\n1700000000\n5432\n\n127.0.0.1\n`);
};

const halfMade = async (home: string): Promise<boolean> => {
  const place = await dataPlaceOf(home).catch(() => null);
  if (place === null) return false;
  const names = await readdir(place).catch(() => []);
  return names.some((name) => name.startsWith('data.unfinished-') && name.endsWith('.password'));
};
