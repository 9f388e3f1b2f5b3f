import { describe, expect, it } from 'vitest';
import { setApplicationStatus } from '#db/queries/applications.ts';
import { requestGames } from '#db/queries/refreshes.ts';
import { findOpenRun } from '#db/queries/runs.ts';
import { jobs, mediaJobs } from '#jobs/index.ts';
import type { ApplicationGameDetail } from '#src/contract/application.ts';
import { jobSpecs, prune, pullGameDetail, queryGameDetail, queryGameList, tick } from '#src/ingest/specs.ts';
import { type AnySpec, defineJobs, type JobResult } from '#src/queue/job.ts';
import { ACCESS_TOKEN, anOpenRun, moveWebhooks, webhooksAt } from '#test/support/factories.ts';
import { onBothBackends, useTestFleet } from '#test/support/fleet.ts';
import { startGate } from '#test/support/gate.ts';
import { gamesOf, oneGame } from '#test/support/landed.ts';
import { removeApplication } from '#test/support/operate.ts';
import { everythingStored } from '#test/support/stored.ts';
import { listFailures, listRuns } from '#test/support/stored-rows.ts';

describe('The list of jobs', () => {
  it('has names that are file names, and a title of ids alone for each', async () => {
    for (const { name } of jobSpecs) {
      expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
      expect(Object.values(await import(`../../jobs/${name}.ts`))).toContain(
        [...jobs, ...mediaJobs].find(({ spec }) => spec.name === name),
      );
    }
    expect(queryGameList.title({ application_id: 'acme', run_id: '', fence: 1, page_num: 3 })).toBe(
      'acme page 3',
    );
    expect(tick.title({ application_id: 'acme', schedule: 'games' })).toBe('acme games');
    expect(pullGameDetail.title({ application_id: 'acme' })).toBe('acme');
  });

  it('is refused when two jobs share a name, or a specification has no handler', () => {
    const [first, second] = jobs;
    expect(() => defineJobs([tick], [first, first] as never)).toThrow('two jobs are named tick');
    expect(() => defineJobs([tick], [second] as never)).toThrow('no handler for the job tick');
    expect(defineJobs([tick], [first] as never)).toEqual([first]);
  });
});

onBothBackends('A job', (kind) => {
  const fleet = useTestFleet(kind, 1);

  /** Requests games as an operator does, and runs the job that pulls them. */
  const pull = async (application_id: string, ids: readonly string[]): Promise<JobResult> => {
    await requestGames(fleet.sql, application_id, ids);
    return finish(pullGameDetail, { application_id });
  };

  /** Adds a job and waits for its end. */
  const finish = async (definition: AnySpec, payload: object): Promise<JobResult> => {
    const { id } = await fleet.producer.add(definition, payload);
    const { failedReason, returnvalue } = await fleet.jobEnded(definition, id);
    return failedReason ? { failed: failedReason } : returnvalue;
  };

  it('is not added with a payload that does not fit', async () => {
    await expect(
      fleet.producer.add(tick, { application_id: 'acme', schedule: 'hourly' as never }),
    ).rejects.toThrow();
    expect(await fleet.producer.queue(tick).getJobCountByTypes('waiting', 'delayed', 'active')).toBe(0);
  });

  it('whose payload does not fit fails at its first attempt and names the field', async () => {
    const queue = fleet.producer.queue(queryGameDetail);
    const { id } = await queue.add('old', { application_id: 'acme', run_id: 'x' }, { attempts: 5 });
    const failed = await fleet.jobEnded(queryGameDetail, id);
    expect(failed.attemptsMade).toBe(1);
    expect(failed.failedReason).toBe('payload does not fit query-game-detail: run_id, fence, page_num');
  });

  it('of a run that does not exist writes nothing', async () => {
    const ids = {
      application_id: 'acme',
      run_id: '019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b',
      fence: 1,
      page_num: 1,
    };
    for (const definition of [queryGameList, queryGameDetail])
      expect(await finish(definition, ids)).toEqual({ skipped: 'stale fence' });
  });

  it('tick opens a run, leaves an open one alone, and does nothing for a paused or removed application', async () => {
    await fleet.addApplication('ticked', 2);
    const ticked = { application_id: 'ticked', schedule: 'games' };
    const { run_id } = await finish(tick, ticked);
    expect(await fleet.ended(String(run_id))).toMatchObject({
      outcome: 'succeeded',
      trigger: 'schedule',
      inserted: 2,
    });

    const open = await anOpenRun(fleet.sql, 'ticked');
    expect(await finish(tick, ticked)).toMatchObject({ skipped: 'a run is open', run_id: open.run_id });
    await setApplicationStatus(fleet.sql, 'ticked', 'paused');
    expect(await finish(tick, ticked)).toEqual({ skipped: 'not active' });
    await removeApplication(fleet.sql, 'ticked');
    expect(await finish(tick, ticked)).toEqual({ skipped: 'not active' });
    expect(await findOpenRun(fleet.sql, 'ticked')).toBeUndefined();
    expect(await listRuns(fleet.sql, { application_id: 'ticked', limit: 10 })).toHaveLength(2);
  });

  it('pull lands single games outside any run, and says what became of each', async () => {
    const { server } = await fleet.addApplication('pulled', 5);
    const games = server.games.all() as [ApplicationGameDetail, ApplicationGameDetail, ...unknown[]];
    const [good, bad] = [games[0], games[1]];
    server.games.update(bad.game_id, { game_icon: 'none' as never });
    const pullAll = () => pull('pulled', [good.game_id, bad.game_id, 'not-there']);
    expect(await pullAll()).toEqual({
      inserted: 1,
      updated: 0,
      unchanged: 0,
      invalid: 1,
      failed: 0,
      missing: 1,
    });
    expect((await gamesOf(fleet.sql, 'pulled')).size).toBe(1);
    expect(await oneGame(fleet.sql, 'pulled', good.game_id)).toMatchObject({ game_name: good.game_name });
    expect(await listFailures(fleet.sql, { application_id: 'pulled', limit: 5 })).toMatchObject([
      { application_game_id: bad.game_id, kind: 'invalid_data' },
    ]);

    server.games.update(bad.game_id, { game_icon: [] });
    expect(await pullAll()).toMatchObject({ inserted: 1, unchanged: 1, missing: 1 });
    expect(await fleet.sql`select from refresh_requests where application_id = 'pulled'`).toHaveLength(0);
    expect(await listFailures(fleet.sql, { application_id: 'pulled', limit: 5 })).toEqual([]);
    expect(await fleet.sync('pulled')).toMatchObject({ outcome: 'succeeded', inserted: 3 });
  });

  it('pull whose application is removed while it asks writes nothing', async () => {
    const { server } = await fleet.addApplication('leaving', 2);
    await fleet.sync('leaving');
    const [known] = server.games.all() as [ApplicationGameDetail];
    const gate = await startGate(server.url);
    await moveWebhooks(fleet.sql, 'leaving', webhooksAt(gate.url));
    gate.block(() => true);
    const pulled = pull('leaving', [known.game_id, 'not-there']);
    await gate.blocked(2);
    await removeApplication(fleet.sql, 'leaving');
    gate.release();
    expect(await pulled).toEqual({ skipped: 'no such application' });
    expect((await oneGame(fleet.sql, 'leaving', known.game_id)).withdrawn_at).not.toBeNull();
    await gate.close();
  });

  it('pull records why it failed after its last attempt when the application is down', async () => {
    const { server } = await fleet.addApplication('down', 1);
    await server.close();
    const failures = () => listFailures(fleet.sql, { application_id: 'down', limit: 5 });
    const results = [await pull('down', ['g-1']), await finish(pullGameDetail, { application_id: 'down' })];
    expect(results.map(({ failed }) => failed)).toEqual([0, 0]);
    expect(await failures()).toEqual([]);
    expect(await fleet.sql`select attempts from refresh_requests where application_id = 'down'`).toEqual([
      { attempts: 2 },
    ]);
    expect(await finish(pullGameDetail, { application_id: 'down' })).toMatchObject({ failed: 1 });
    expect(await failures()).toMatchObject([
      { application_game_id: 'g-1', kind: 'connect_failed', count: 1 },
    ]);
    expect(await fleet.sql`select from refresh_requests where application_id = 'down'`).toHaveLength(0);
    expect(await finish(pullGameDetail, { application_id: 'gone' })).toEqual({
      skipped: 'no such application',
    });
  });

  it('prune deletes what has served its time, all of it', async () => {
    const nothing = {
      pages: 0,
      runs: 0,
      days: 0,
      failures: 0,
      events: 0,
      pictures: 0,
      records: 0,
      removed: 0,
      secrets: 0,
      stream: 0,
    };
    await fleet.addApplication('pruned', 1);
    const [old, fresh] = [await fleet.sync('pruned'), await fleet.sync('pruned')];
    await fleet.sql`update sync_runs set finished_at = now() - interval '25 hours' where run_id = ${old.run_id}`;
    // The end of its listing was deleted with its close, because it found nothing changed.
    expect(await finish(prune, {})).toEqual({ ...nothing, pages: 1 });
    // Twenty newer runs, and the sums of a day that ended long ago.
    await fleet.sql`
      insert into sync_runs (run_id, application_id, trigger, outcome, finished_at)
      select uuidv7(), 'pruned', 'schedule', 'succeeded', now() from generate_series(1, 19)`;
    await fleet.sql`
      insert into run_days select 'pruned', '2020-01-01', 'failed', 1, 0, 0, 0, 0, 0, 0, 0, 0`;
    expect(await finish(prune, {})).toEqual({ ...nothing, runs: 1, days: 1 });
    const left = await listRuns(fleet.sql, { application_id: 'pruned', limit: 100 });
    expect(left).toHaveLength(20);
    expect(left.map(({ run_id }) => run_id)).toContain(fresh.run_id);
    expect(await finish(prune, {})).toEqual(nothing);
  });

  it('leaves no token behind: not in the queue, not in a log, not in a table', async () => {
    expect(fleet.log()).toContain('page listed');
    const everything = fleet.log() + (await everythingStored(fleet));
    expect(everything.includes(ACCESS_TOKEN)).toBe(false);
    expect(everything.includes(Buffer.from(ACCESS_TOKEN).toString('hex'))).toBe(false);
  });
});
