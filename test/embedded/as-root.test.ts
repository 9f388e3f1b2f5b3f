import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { canRun, copyBinaries, findBinaries } from '#src/embedded/binaries.ts';
import {
  dataPlaceOf,
  isRoot,
  makeHome,
  makeNewHome,
  postmasterPid,
  query,
  start,
} from '#test/support/homes.ts';

describe.skipIf(!isRoot)('as root (skipped for an ordinary user: there Postgres runs as that user)', () => {
  test('Postgres and its data belong to the user postgres', async () => {
    const home = await makeHome();
    await start(home);
    const { uid } = await stat(join(await dataPlaceOf(home), 'data'));
    expect(uid).not.toBe(0);
    expect((await stat(`/proc/${await postmasterPid(home)}`)).uid).toBe(uid);
  });

  test('A home below a directory closed to that user works, keeps its data, and says where it is', async () => {
    const home = await makeNewHome({ parentMode: 0o700 });
    const first = await start(home);
    const place = await dataPlaceOf(home);
    expect(place).toMatch(/^\/var\/lib\/game-catalogue\/[0-9a-f-]{36}$/);
    expect(first.progress.filter((line) => line.includes(`its data is in ${place}`))).toHaveLength(1);
    await query(first.databaseUrl, 'create table kept as select 1 as value');
    await first.stop();

    const second = await start(home);
    expect(await dataPlaceOf(home)).toBe(place);
    expect(await query(second.databaseUrl, 'select value from kept')).toEqual([{ value: 1 }]);
  });
});

test('Binaries copied by three processes at once are one whole copy, open to every user', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'catalogue-binaries-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const copies = await Promise.all([1, 2, 3].map(() => copyBinaries(findBinaries(), directory)));
  const [copy] = copies;
  expect(copies).toEqual([copy, copy, copy]);
  expect(await readdir(directory)).toHaveLength(1);
  for (const program of [copy?.postgres ?? '', copy?.initdb ?? '']) {
    expect(await canRun(program, ['--version'], null)).toBe(true);
    for (const path of [program, dirname(program), dirname(dirname(program))]) {
      expect((await stat(path)).mode & 0o055).toBe(0o055);
    }
  }
});
