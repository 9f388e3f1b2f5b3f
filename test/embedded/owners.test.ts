import { describe, expect, test } from 'vitest';
import { findRunningInstance } from '#src/embedded/postgres.ts';
import { EXIT } from '#src/errors.ts';
import { makeHome, makeNewHome, postmasterPid, query, start, startOwner } from '#test/support/homes.ts';

describe('several processes', () => {
  test('A second start is refused, with exit code 4, while the owner lives', async () => {
    const home = await makeHome();
    const owner = startOwner(home);
    const { databaseUrl } = await owner.answer;

    await expect(start(home)).rejects.toMatchObject({
      message: `already running in this directory (pid ${owner.pid}): stop it or use another CATALOGUE_HOME`,
      exitCode: EXIT.alreadyRunning,
    });
    expect(await findRunningInstance(home)).toBe(databaseUrl);
  });

  test('A second start in the same process is refused too', async () => {
    const home = await makeHome();
    const instance = await start(home);
    await expect(start(home)).rejects.toMatchObject({ exitCode: EXIT.alreadyRunning });
    expect(await findRunningInstance(home)).toBe(instance.databaseUrl);
  });

  test('Of three first starts at once exactly one wins', async () => {
    const home = await makeNewHome();
    const owners = [startOwner(home), startOwner(home), startOwner(home)];
    const answers = await Promise.all(owners.map((owner) => owner.answer));
    expect(answers.filter((answer) => answer.databaseUrl)).toHaveLength(1);
    const refusals = answers.flatMap(({ error }) => error ?? []);
    expect(refusals).toEqual(Array(2).fill(expect.stringMatching(/^already running in this directory/)));
  });

  test('An owner stopped by a debugger or SIGSTOP is alive: its database stays its own', async () => {
    const home = await makeHome();
    const owner = startOwner(home);
    await owner.answer;
    process.kill(owner.pid, 'SIGSTOP');
    try {
      await expect(start(home)).rejects.toMatchObject({ exitCode: EXIT.alreadyRunning });
    } finally {
      process.kill(owner.pid, 'SIGCONT');
    }
  });

  test('After SIGKILL of the owner its Postgres still runs, and a start recovers it with all its data', async () => {
    const home = await makeHome();
    const owner = startOwner(home);
    const { databaseUrl = '' } = await owner.answer;
    await query(databaseUrl, 'create table kept as select 1 as value');
    const orphan = await postmasterPid(home);
    await owner.end('SIGKILL');
    expect(await findRunningInstance(home)).toBe(databaseUrl);

    const recovered = await start(home);
    expect(recovered.progress).toContain(
      `Stopping the Postgres (pid ${orphan}) that an earlier process left behind`,
    );
    expect(await query(recovered.databaseUrl, 'select value from kept')).toEqual([{ value: 1 }]);
    expect(await postmasterPid(home)).not.toBe(orphan);
  });

  test('After SIGKILL of the owner and of Postgres a start recovers all that was committed', async () => {
    const home = await makeHome();
    const owner = startOwner(home);
    const { databaseUrl = '' } = await owner.answer;
    await query(databaseUrl, 'create table kept as select 1 as value');
    process.kill(await postmasterPid(home), 'SIGKILL');
    await owner.end('SIGKILL');

    const recovered = await start(home);
    expect(await query(recovered.databaseUrl, 'select value from kept')).toEqual([{ value: 1 }]);
  });

  test('An owner that ends by SIGTERM leaves nothing running', async () => {
    const home = await makeHome();
    const owner = startOwner(home);
    await owner.answer;
    const pid = await postmasterPid(home);
    await owner.end('SIGTERM');
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(await findRunningInstance(home)).toBeNull();
  });
});
