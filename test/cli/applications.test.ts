import { describe, expect, inject, it } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { useCommandLine } from '#test/support/command-line.ts';
import { fetchedGame } from '#test/support/factories.ts';

describe('Commands on applications, without a worker', () => {
  const world = useCommandLine(inject('redisUrl') === null ? 'postgres' : 'redis');
  const { cli, ask } = world;
  const add = (id: string, ...args: string[]) => world.add(id, 'http://127.0.0.1:9', ...args);

  it('app resume --all resumes what failed runs have paused or delayed, and nothing else', async () => {
    for (const id of ['failing', 'delayed', 'by-hand']) await add(id);
    await world.fleet.sql`
      update applications set status = 'paused', failed_runs = 10, pause_reason = '10 runs in a row failed'
      where application_id = 'failing'`;
    await world.fleet.sql`
      update applications set failed_runs = 3, next_attempt_at = now() + interval '1 day' where application_id = 'delayed'`;
    await ask('app', 'pause', 'by-hand');
    const listed = (await cli(['app', 'list', '--status', 'paused'])).stdout;
    expect(listed).toMatch(/failing .* 10 runs in a row failed/);
    expect(listed).toMatch(/by-hand .* an operator paused it/);
    const resumed = await ask('app', 'resume', '--all');
    expect(resumed).toMatchObject({ exit: 0, answer: { status: 'active' } });
    expect(resumed.answer.application_ids.toSorted()).toEqual(['delayed', 'failing']);
    const rows = await world.fleet.sql`
      select application_id, status, failed_runs, next_attempt_at, pause_reason from applications
      where application_id in ('failing', 'delayed', 'by-hand') order by 1`;
    expect(rows).toMatchObject([
      { application_id: 'by-hand', status: 'paused' },
      { application_id: 'delayed', status: 'active', failed_runs: 0, next_attempt_at: null },
      {
        application_id: 'failing',
        status: 'active',
        failed_runs: 0,
        next_attempt_at: null,
        pause_reason: null,
      },
    ]);
    expect(await ask('app', 'resume', '--all')).toMatchObject({ exit: 0, answer: { application_ids: [] } });
    for (const args of [[], ['by-hand', '--all']])
      expect((await ask('app', 'resume', ...args)).answer.error).toContain(
        'Name one application, or use --all.',
      );
    for (const id of ['failing', 'delayed', 'by-hand'])
      expect((await ask('app', 'remove', id, '--yes')).exit).toBe(0);
  });

  it('app add --paused lets no schedule pull from it until app resume', async () => {
    expect(await add('adopted', '--paused')).toMatchObject({ exit: 0 });
    const status = async () => (await ask('app', 'show', 'adopted')).answer.status;
    expect(await status()).toBe('paused');
    const [entry] = await world.fleet.sql<{ details: object }[]>`
      select details from audit_log where action = 'application.add' order by entry_id desc limit 1`;
    expect(entry?.details).toMatchObject({ paused: true });
    await ask('app', 'resume', 'adopted');
    expect(await status()).toBe('active');
    await ask('app', 'remove', 'adopted', '--yes');
    expect(await add('adopted', '--paused', '--same-owner')).toMatchObject({ exit: 0 });
    expect(await status()).toBe('paused');
    await ask('app', 'remove', 'adopted', '--yes');
  });

  it('the id of a removed application is given to its former owner only', async () => {
    await add('returning');
    const game = fetchedGame();
    await upsertGames(world.fleet.sql, 'returning', [game]);
    await ask('app', 'remove', 'returning', '--yes');
    const refused = await add('returning');
    expect(refused).toMatchObject({ exit: 2, answer: { error: expect.stringContaining('--same-owner') } });
    expect((await ask('app', 'show', 'returning')).exit).toBe(2);
    expect(await add('returning', '--same-owner')).toMatchObject({ exit: 0 });
    const [entry] = await world.fleet.sql<{ details: object }[]>`
      select details from audit_log where action = 'application.add' order by entry_id desc limit 1`;
    expect(entry?.details).toMatchObject({ same_owner: true });
    const again = await add('returning', '--same-owner');
    expect(again).toMatchObject({
      exit: 2,
      answer: { error: expect.stringContaining('already registered') },
    });
    await ask('app', 'remove', 'returning', '--yes');
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

  it('app update --volatile-parameter names what is no part of an address, and app show says when addresses end early', async () => {
    await add('signing');
    const named = await ask('app', 'update', 'signing', '--volatile-parameter', 't', 'session', 't');
    expect(named).toMatchObject({ exit: 0, answer: { volatile_parameters: ['session', 't'] } });
    const [entry] = await world.fleet.sql<{ details: object }[]>`
      select details from audit_log where action = 'application.update' order by entry_id desc limit 1`;
    expect(entry?.details).toEqual({
      volatile_parameters: ['session', 't'],
      former: { volatile_parameters: [] },
    });
    for (const wrong of ['a=b', 'a&b', '', 'a b', '#'])
      expect((await ask('app', 'update', 'signing', '--volatile-parameter', wrong)).exit).toBe(2);
    const none = await ask('app', 'update', 'signing', '--no-volatile-parameter');
    expect(none.answer).toMatchObject({
      volatile_parameters: [],
      addresses_last: null,
      addresses_problem: null,
    });
    const game = fetchedGame({
      game_icon: ['https://cdn.example/a.png?AccessKeyId=k&Expires=300&Signature=s'],
    });
    await upsertGames(world.fleet.sql, 'signing', [{ ...game, fetched_at: new Date(0) }]);
    await ask('app', 'update', 'signing', '--every', '15m');
    expect((await ask('app', 'show', 'signing')).answer).toMatchObject({
      addresses_last: '5m',
      addresses_problem: expect.stringMatching(/^its addresses end 5m after an answer, .* for at least 19m$/),
    });
    await ask('app', 'remove', 'signing', '--yes');
  });

  it('prints tables for people', async () => {
    await add('acme');
    const { exit, stdout } = await cli(['app', 'list']);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^application_id +name +status/);
    expect(stdout).toMatch(/^acme +The acme +active/m);
  });
});
