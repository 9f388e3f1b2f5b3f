import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBlocking } from '#db/queries/connections.ts';
import { countLiveWorkers } from '#db/queries/workers.ts';
import type { ApplicationGameDetail } from '#src/contract/application.ts';
import { type SampleApplication, startSampleApplication } from '#src/sample-application/start.ts';
import { type CliProcess, startCli } from '#test/support/cli.ts';
import { useCommandLine } from '#test/support/command-line.ts';
import { ACCESS_TOKEN } from '#test/support/factories.ts';
import { fleetBackend } from '#test/support/fleet.ts';
import { asSent, gamesOf } from '#test/support/landed.ts';
import { everythingStored } from '#test/support/stored.ts';
import { until } from '#test/support/until.ts';

describe('The command line of a fleet', () => {
  const world = useCommandLine(fleetBackend());
  const { cli, ask, add, keep, written } = world;
  let server: SampleApplication;
  let worker: CliProcess;
  beforeAll(async () => {
    server = await startSampleApplication({ accessToken: ACCESS_TOKEN, games: 130, seed: 'acme' });
  });
  afterAll(async () => {
    worker?.kill('SIGKILL');
    await worker?.done;
    await server.close();
  });

  it('names the command that creates missing tables, and migrate can run twice', async () => {
    await world.fleet.sql.unsafe(
      'drop schema public cascade; drop schema drizzle cascade; create schema public',
    );
    const before = await ask('app', 'list');
    expect(before.exit).toBe(1);
    expect(before.answer.error).toContain('npx catalogue migrate');
    const [first, again] = [await ask('migrate'), await ask('migrate')];
    expect(first).toMatchObject({ exit: 0, answer: { migrated: true, applied: expect.any(Number) } });
    expect(first.answer.applied).toBeGreaterThan(0);
    expect(again).toMatchObject({ exit: 0, answer: { migrated: true, applied: 0 } });
    expect(await ask('app', 'list')).toMatchObject({ exit: 0, answer: { applications: [] } });
  });

  it('registers an application and shows it without its token', async () => {
    const added = await add('acme', server.url);
    expect(added).toMatchObject({
      exit: 0,
      answer: {
        application_id: 'acme',
        name: 'The acme',
        status: 'active',
        every: '30d',
        kyc_every: '1d',
        rate: 10_000,
      },
    });
    expect((await add('acme', server.url)).exit).toBe(2);
    expect(await ask('app', 'show', 'acme')).toMatchObject({ exit: 0, answer: added.answer });
    expect(await ask('app', 'update', 'acme', '--concurrency', '16')).toMatchObject({
      answer: { concurrency: 16 },
    });
    expect((await ask('app', 'update', 'acme')).exit).toBe(2);
    expect((await ask('app', 'show', 'nobody')).answer.error).toContain('npx catalogue app list');
    const stdin = ['app', 'update', 'acme', '--access-token-file', '-', '--json'];
    expect((await cli(stdin, `${ACCESS_TOKEN}\n`)).exit).toBe(0);
  });

  it('reports at once that no worker is running, and the second of two syncs exits with code 4', async () => {
    await add('waiting', server.url);
    const [first, second] = await Promise.all([ask('sync', 'waiting'), ask('sync', 'waiting')]);
    expect([first.exit, second.exit].sort()).toEqual([0, 4]);
    const [opened, refused] = first.exit === 0 ? [first, second] : [second, first];
    expect(opened.stderr).toContain('No worker takes jobs');
    expect(opened.answer.runs).toMatchObject([{ application_id: 'waiting', outcome: null }]);
    const { run_id } = opened.answer.runs[0];
    expect(refused.answer).toEqual({ runs: [], already_running: [{ application_id: 'waiting', run_id }] });
    expect(refused.stderr).toContain(`run ${run_id}`);
    expect((await ask('run', 'show', run_id)).answer).toMatchObject({ outcome: null, trigger: 'manual' });
  });

  it('stores every game of every page through a worker process, and sync prints its document', async () => {
    worker = startCli(['worker'], world.env);
    await until('the worker runs', async () => (await countLiveWorkers(world.fleet.sql)) > 0);
    const { exit, answer, stderr } = await ask('sync', 'acme', '--wait');
    expect({ exit, stderr }).toEqual({
      exit: 0,
      stderr: '',
    });
    expect(answer).toEqual({
      runs: [
        {
          run_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          application_id: 'acme',
          outcome: 'succeeded',
          listed: 130,
          inserted: 130,
          updated: 0,
          unchanged: 0,
          invalid: 0,
          failed: 0,
          missing: 0,
          withdrawn: 0,
        },
      ],
    });
    const rows = [...(await gamesOf(world.fleet.sql, 'acme')).values()].map(asSent);
    const byId = (a: ApplicationGameDetail, b: ApplicationGameDetail) => (a.game_id < b.game_id ? -1 : 1);
    expect(rows.sort(byId)).toEqual(server.games.all().sort(byId));
    // The worker runs the waiting run too.
    await until('the waiting run ends', async () => {
      const { answer: list } = await ask('run', 'list', 'waiting');
      return list.runs[0].outcome === 'succeeded';
    });
  });

  it('shows a changed game with its former revision, and accepts a decision on the current revision only', async () => {
    const [game] = server.games.all() as [ApplicationGameDetail];
    server.games.update(game.game_id, { game_info: 'Changed at the source.' });
    expect(await ask('pull', 'acme', game.game_id, '--wait')).toMatchObject({
      exit: 0,
      answer: { application_id: 'acme', inserted: 0, updated: 1, unchanged: 0, invalid: 0, missing: 0 },
    });
    const { answer: list } = await ask('game', 'list', '--application', 'acme', '--limit', '1000');
    expect(list.games).toHaveLength(130);
    const { game_id } = list.games.find((row: { revision: number }) => row.revision === 2);
    const { answer: shown } = await ask('game', 'show', game_id);
    expect(shown).toMatchObject({
      game_desc: 'Changed at the source.',
      audit_status: 'pending',
      audit_time: null,
    });
    expect(shown.revisions.map((kept: { game_desc: string }) => kept.game_desc)).toEqual([
      'Changed at the source.',
      game.game_info,
    ]);

    const late = await ask('game', 'pass', game_id, '--by', 'kim', '--revision', '1');
    expect(late.exit).toBe(1);
    expect(late.answer.error).toContain('at revision 2, not 1');
    expect(await ask('game', 'pass', game_id, '--by', 'kim', '--revision', '2')).toMatchObject({
      exit: 0,
      answer: { audit_status: 'passed' },
    });
    expect((await ask('game', 'list', '--status', 'passed')).answer.games).toMatchObject([{ game_id }]);
  });

  it('reports a game that the application does not know in a sentence', async () => {
    const { exit, stdout } = await cli(['pull', 'acme', 'no-such-game', '--wait']);
    expect(exit).toBe(0);
    expect(stdout).toBe('acme does not know the game no-such-game.\n');
  });

  it('exits with code 1 when a run fails, and prints the reason', async () => {
    const { stderr: warned } = await add('forbidden', 'http://169.254.169.254/latest');
    expect(warned).toContain('warning: --query-game-list-webhook');
    const { exit, answer } = await ask('sync', 'forbidden', '--wait');
    expect(exit).toBe(1);
    expect(answer.runs).toMatchObject([
      { outcome: 'failed', listed: 0, reason: 'page 1: forbidden_address' },
    ]);
  });

  it('shows the queues and the worker, pauses and resumes', async () => {
    const { answer } = await ask('queue', 'status');
    expect(answer.workers).toMatchObject([{ pid: worker.pid }]);
    const names = answer.queues.map((queue: { name: string }) => queue.name);
    expect(names).toContain('query-game-list');
    expect((await ask('queue', 'pause', 'query-cp-kyc')).answer).toEqual({ paused: ['query-cp-kyc'] });
    const paused = (await ask('queue', 'status')).answer.queues.find(
      (queue: { name: string }) => queue.name === 'query-cp-kyc',
    );
    expect(paused.paused).toBe(true);
    expect((await ask('queue', 'resume')).answer.resumed.toSorted()).toEqual(names);
    expect((await ask('queue', 'retry-failed', 'query-game-list')).answer.retried).toHaveProperty(
      'query-game-list',
    );
    expect((await ask('queue', 'pause', 'nonsense')).exit).toBe(2);
  });

  it('pauses, resumes and removes an application, and withdraws the games of a removed one', async () => {
    expect((await ask('app', 'pause', 'waiting')).answer).toMatchObject({ status: 'paused' });
    expect((await ask('sync', '--all', '--timeout', '30s')).answer.runs).not.toContainEqual(
      expect.objectContaining({ application_id: 'waiting' }),
    );
    expect((await ask('app', 'resume', 'waiting')).answer).toMatchObject({ status: 'active' });
    expect((await ask('app', 'remove', 'waiting')).exit).toBe(0);
    expect((await ask('sync', 'waiting')).exit).toBe(2);
    const rows = [...(await gamesOf(world.fleet.sql, 'waiting')).values()];
    expect(rows.every((row) => row.withdrawn_at !== null)).toBe(true);
  });

  it('goes on with the next application if one is removed while sync --all runs', async () => {
    const { sql } = world.fleet;
    const ids = ['gone-1', 'gone-2', 'gone-3'];
    for (const id of ids) await add(id, server.url);
    const synced = await sql.begin(async (tx) => {
      await tx`update applications set status = 'removed' where application_id = 'gone-2'`;
      const running = cli(['sync', '--all', '--json']);
      await until('sync waits', async () => (await readBlocking(sql)).length > 0);
      return { running };
    });
    const { exit, stdout, stderr } = await synced.running;
    expect(stderr).toContain('gone-2: removed meanwhile.');
    expect([0, 4]).toContain(exit);
    expect(stdout).toContain('gone-3');
    for (const id of ids) await cli(['app', 'remove', id]);
  });

  it('stops a worker at SIGTERM with exit code 0', async () => {
    await until('no run is open', async () => {
      const open = await world.fleet.sql`select from sync_runs where finished_at is null`;
      return open.length === 0;
    });
    worker.kill('SIGTERM');
    const result = keep(await worker.done);
    expect(result.exit).toBe(0);
    expect(result.stderr).toContain('"msg":"stopped"');
    expect((await ask('queue', 'status')).answer.workers).toEqual([]);
  });

  it('never writes the access token to a terminal, a log, a table or Redis', async () => {
    expect(written.join('').length).toBeGreaterThan(10_000);
    const stored = await everythingStored(world.fleet);
    expect(stored).toContain('query-game-list');
    const bytes = Buffer.from(ACCESS_TOKEN);
    const forms = [ACCESS_TOKEN, bytes.toString('hex'), bytes.toString('base64').slice(0, -3)];
    for (const form of forms) {
      expect(written.join('\n').includes(form)).toBe(false);
      expect(stored.includes(form)).toBe(false);
    }
  });
});
