import { describe, expect, inject, it } from 'vitest';
import { useCommandLine } from '#test/support/command-line.ts';

describe('Commands on applications, without a worker', () => {
  const world = useCommandLine(inject('redisUrl') === null ? 'postgres' : 'redis');
  const { cli, ask } = world;
  const add = (id: string) => world.add(id, 'http://127.0.0.1:9');

  it('app resume --all resumes what failed runs have paused or delayed, and nothing else', async () => {
    for (const id of ['failing', 'delayed', 'by-hand']) await add(id);
    await world.fleet.sql`
      update applications set status = 'paused', failed_runs = 10, pause_reason = '10 runs in a row failed'
      where application_id = 'failing'`;
    await world.fleet.sql`
      update applications set failed_runs = 3, next_attempt_at = now() + interval '1 day' where application_id = 'delayed'`;
    await ask('app', 'pause', 'by-hand');
    const resumed = await ask('app', 'resume', '--all');
    expect(resumed).toMatchObject({ exit: 0, answer: { status: 'active' } });
    expect(resumed.answer.application_ids.toSorted()).toEqual(['delayed', 'failing']);
    const rows = await world.fleet.sql`
      select application_id, status, failed_runs, next_attempt_at from applications
      where application_id in ('failing', 'delayed', 'by-hand') order by 1`;
    expect(rows).toMatchObject([
      { application_id: 'by-hand', status: 'paused' },
      { application_id: 'delayed', status: 'active', failed_runs: 0, next_attempt_at: null },
      { application_id: 'failing', status: 'active', failed_runs: 0, next_attempt_at: null },
    ]);
    expect(await ask('app', 'resume', '--all')).toMatchObject({ exit: 0, answer: { application_ids: [] } });
    for (const args of [[], ['by-hand', '--all']])
      expect((await ask('app', 'resume', ...args)).answer.error).toContain(
        'Name one application, or use --all.',
      );
    for (const id of ['failing', 'delayed', 'by-hand'])
      expect((await ask('app', 'remove', id, '--yes')).exit).toBe(0);
  });

  it('refuses lists of an application that was never registered', async () => {
    for (const list of [
      ['run', 'list'],
      ['failure', 'list'],
      ['game', 'list', '--application'],
    ]) {
      const { exit, answer } = await ask(...list, 'nosuch');
      expect([exit, answer.error]).toEqual([2, expect.stringContaining('There is no application "nosuch"')]);
    }
  });

  it('prints tables for people', async () => {
    await add('acme');
    const { exit, stdout } = await cli(['app', 'list']);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^application_id +name +status/);
    expect(stdout).toMatch(/^acme +The acme +active/m);
  });
});
