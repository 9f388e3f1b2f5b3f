import type { Job } from 'bullmq';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findOpenRun, findRun, type RunRow, raiseFence } from '#db/queries/runs.ts';
import { recoverRuns } from '#src/ingest/recover-runs.ts';
import { queryGameDetail, queryGameList } from '#src/ingest/specs.ts';
import { stepId } from '#src/ingest/steps.ts';
import { moveWebhooks, webhooksAt } from '#test/support/factories.ts';
import { onBothBackends, startTestFleet, type TestFleet } from '#test/support/fleet.ts';
import { type Gate, type GatedCall, startGate } from '#test/support/gate.ts';
import { asSent, gamesOf } from '#test/support/landed.ts';
import { until } from '#test/support/until.ts';

const live = new AbortController().signal;
/** A run without progress is recovered at once. */
const NOW = { idleMs: 0, abandonMs: 60_000 };

onBothBackends('A run that is disturbed', (kind) => {
  let fleet: TestFleet;
  let gate: Gate;
  beforeEach(async () => {
    fleet = await startTestFleet(kind);
  });
  afterEach(async () => {
    // What waits at the gate would keep a worker from ending.
    gate?.release();
    await fleet.stop();
    await gate?.close();
  });

  /** An application behind a gate. */
  const addApplication = async (games: number) => {
    const { server } = await fleet.addApplication('acme', games, { concurrency: 4 });
    gate = await startGate(server.url);
    await moveWebhooks(fleet.sql, 'acme', webhooksAt(gate.url));
    return server;
  };
  const job = (definition: { name: string }, id: string): Promise<Job> =>
    until(`job ${id}`, async () => (await fleet.producer.queue(definition).getJob(id)) ?? undefined);
  /** Every game is there, once, as it was sent. */
  const expectAll = async (server: Awaited<ReturnType<typeof addApplication>>) => {
    const rows = [...(await gamesOf(fleet.sql, 'acme')).values()].map(asSent);
    expect(rows.sort(byId)).toEqual(server.games.all().sort(byId));
  };

  it('goes on where it was when a page was recorded by a job that died before it was acknowledged', async () => {
    const server = await addApplication(250);
    gate.block(({ operation, body }) => operation === 'query_game_list' && body.page_num === 2);
    const worker = await fleet.startWorker();
    const run = await fleet.startRun('acme');
    await gate.blocked(1);
    // As if the first page's job came back after its work was committed.
    const first = await job(queryGameList, stepId(run, 1));
    const { opts, data, name } = first;
    const again = await fleet.producer
      .queue(queryGameList)
      .add(name, data, { ...opts, jobId: 'the-same-again' });
    expect((await fleet.jobEnded(queryGameList, again.id)).returnvalue).toEqual({
      skipped: 'recorded before',
    });

    gate.release();
    expect(await fleet.ended(run.run_id)).toMatchObject({ outcome: 'succeeded', listed: 250, inserted: 250 });
    expect(server.calls).toMatchObject({ query_game_list: 3, query_game_detail: 250 });
    await expectAll(server);
    await worker.stop(1_000);
  });

  it('is finished under a new fence after the queue was flushed in the middle', async () => {
    const server = await addApplication(250);
    gate.block(({ operation, body }) => operation === 'query_game_list' && body.page_num === 2);
    const worker = await fleet.startWorker();
    const run = await fleet.startRun('acme');
    await gate.blocked(1);
    await fleet.flushQueue();
    // The worker dies with its job: nothing of it is left but what was committed.
    const stopping = worker.stop(0);
    gate.release();
    await stopping;
    await fleet.flushQueue();

    await fleet.startWorker();
    expect(await recoverRuns(fleet.sql, fleet.producer, live, NOW)).toEqual({ recovered: 1, abandoned: 0 });
    const ended = await fleet.ended(run.run_id);
    expect(ended).toMatchObject({ outcome: 'succeeded', listed: 250, inserted: 250, fence: 2 });
    expect(server.calls.query_game_detail).toBe(250);
    await expectAll(server);
  });

  it('also resumes the details of a page when they were lost', async () => {
    const server = await addApplication(120);
    gate.block(({ operation }) => operation === 'query_game_detail');
    const worker = await fleet.startWorker();
    const run = await fleet.startRun('acme');
    await gate.blocked(4);
    const stopping = worker.stop(0);
    await fleet.flushQueue();
    gate.release();
    await stopping;
    await fleet.flushQueue();

    await recoverRuns(fleet.sql, fleet.producer, live, NOW);
    await fleet.startWorker();
    expect(await fleet.ended(run.run_id)).toMatchObject({ outcome: 'succeeded', inserted: 120, failed: 0 });
    await expectAll(server);
  });

  it('is left alone by the reconciler while its job is in the queue', async () => {
    await addApplication(3);
    const run = await fleet.startRun('acme');
    for (let look = 0; look < 3; look += 1)
      expect(await recoverRuns(fleet.sql, fleet.producer, live, NOW)).toEqual({ recovered: 0, abandoned: 0 });
    expect(await findRun(fleet.sql, run.run_id)).toMatchObject({ fence: 1 });
  });

  it('is left alone however long its job waits its turn, and no less once that is due or taken', async () => {
    await addApplication(3);
    const [list, details] = [queryGameList, queryGameDetail].map(fleet.producer.queue);
    const standStill = () => fleet.sql`update sync_runs set progress_at = now() - interval '2 hours'`;
    const expectLeftAlone = async () =>
      expect(await recoverRuns(fleet.sql, fleet.producer, live, NOW)).toEqual({ recovered: 0, abandoned: 0 });
    const run = await fleet.startRun('acme');
    await standStill();
    await expectLeftAlone();

    // It was delayed, and came due while its queue was paused.
    const first = await job(queryGameList, stepId(run, 1));
    await first.remove();
    const putOffAt = Date.now() - 2 * 60 * 60_000;
    await list?.add(first.name, first.data, { ...first.opts, timestamp: putOffAt, delay: 1_000 });
    expect(await list?.getJobState(stepId(run, 1))).toBe('delayed');
    await expectLeftAlone();

    await Promise.all([list?.pause(), details?.pause()]);
    await fleet.startWorker();
    await expectLeftAlone();
    gate.block(({ operation }) => operation === 'query_game_list');
    await list?.resume();
    await gate.blocked(1);
    await expectLeftAlone();

    gate.release();
    await until('its details wait', async () => (await details?.getJobState(stepId(run, 1))) === 'waiting');
    await standStill();
    await expectLeftAlone();
    await details?.resume();
    expect(await fleet.ended(run.run_id)).toMatchObject({ outcome: 'succeeded', inserted: 3, fence: 1 });
  });

  it('is abandoned when its job has stood still too long, and a new one like it takes its place', async () => {
    await addApplication(3);
    gate.block(({ operation }) => operation === 'query_game_list');
    await fleet.startWorker();
    const run = await fleet.startRun('acme', { full: true, accept_withdrawals: true });
    await gate.blocked(1);
    const patience = { ...NOW, abandonMs: 0 };
    expect(await recoverRuns(fleet.sql, fleet.producer, live, patience)).toEqual({
      recovered: 0,
      abandoned: 1,
    });
    expect(await findRun(fleet.sql, run.run_id)).toMatchObject({ outcome: 'abandoned' });
    const next = await findOpenRun(fleet.sql, 'acme');
    gate.release();
    const asked = { trigger: 'manual', full: true, accept_withdrawals: true };
    expect(await fleet.ended(next?.run_id ?? '')).toMatchObject({
      ...asked,
      outcome: 'succeeded',
      inserted: 3,
    });
  });

  it('is abandoned when its job has been lost for too long', async () => {
    await addApplication(3);
    const run = await fleet.startRun('acme');
    await fleet.flushQueue();
    await fleet.sql`update sync_runs set progress_at = now() - interval '2 minutes'`;
    expect(await recoverRuns(fleet.sql, fleet.producer, live, NOW)).toEqual({ recovered: 0, abandoned: 1 });
    expect(await findRun(fleet.sql, run.run_id)).toMatchObject({ outcome: 'abandoned' });
  });

  it('is found behind many that wait, and many that were lost are all recovered at once', async () => {
    const many = 1_100;
    await addApplication(3);
    await fleet.sql`
      insert into applications
      select (jsonb_populate_record(a, jsonb_build_object('application_id', 'app-' || n))).*
      from applications a, generate_series(1, ${many - 1}) n`;
    await fleet.sql`
      insert into sync_runs (run_id, application_id, trigger, progress_at)
      select gen_random_uuid(), application_id, 'schedule', now() - interval '30 seconds' from applications`;
    const look = () => recoverRuns(fleet.sql, fleet.producer, live, NOW);
    expect(await recoverRuns(fleet.sql, fleet.producer, AbortSignal.abort(), NOW)).toEqual({
      recovered: 0,
      abandoned: 0,
    });
    expect(await look()).toEqual({ recovered: many, abandoned: 0 });
    const queue = fleet.producer.queue(queryGameList);
    expect(await queue.getWaitingCount()).toBe(many);
    expect(await look()).toEqual({ recovered: 0, abandoned: 0 });

    const [last] = await fleet.sql<RunRow[]>`select * from sync_runs order by run_id desc limit 1`;
    await queue.remove(stepId(last as RunRow, 1));
    expect(await look()).toEqual({ recovered: 1, abandoned: 0 });
  });

  it('is not written to any more by a worker that lost it and is still alive', async () => {
    const server = await addApplication(8);
    gate.block(({ operation }) => operation === 'query_game_detail');
    await fleet.startWorker();
    const run = await fleet.startRun('acme');
    await gate.blocked(4);
    const taken = await raiseFence(fleet.sql, { ...run, next_page: 2 });
    gate.release();
    expect((await fleet.jobEnded(queryGameDetail, stepId(run, 1))).returnvalue).toEqual({
      skipped: 'stale fence',
    });
    expect((await gamesOf(fleet.sql, 'acme')).size).toBe(0);

    await fleet.sql`update sync_runs set progress_at = now() - interval '1 second'`;
    await recoverRuns(fleet.sql, fleet.producer, live, NOW);
    expect(await fleet.ended(run.run_id)).toMatchObject({ fence: (taken?.fence ?? 0) + 1, inserted: 8 });
    await expectAll(server);
  });

  it('loses nothing and spends no attempt when its worker stops', async () => {
    const server = await addApplication(60);
    // Half of the details land before the worker stops, the rest wait at the gate until its deadline.
    const asked: GatedCall[] = [];
    gate.block((call) => call.operation === 'query_game_detail' && asked.push(call) > 30);
    const worker = await fleet.startWorker();
    const run = await fleet.startRun('acme');
    await gate.blocked(4);
    await worker.stop(50);
    expect(fleet.log()).not.toContain('jobs did not end in time');
    gate.release();

    const half = (await gamesOf(fleet.sql, 'acme')).size;
    expect(half).toBe(30);
    const details = await job(queryGameDetail, stepId(run, 1));
    expect(details.attemptsMade).toBe(0);
    expect(await details.getState()).toBe('waiting');

    await fleet.startWorker();
    expect(await fleet.ended(run.run_id)).toMatchObject({ outcome: 'succeeded', inserted: 60, failed: 0 });
    await expectAll(server);
  });

  it('lets a running job end when its worker stops and there is time', async () => {
    await addApplication(3);
    gate.block(({ operation }) => operation === 'query_game_detail');
    const worker = await fleet.startWorker();
    const run = await fleet.startRun('acme');
    await gate.blocked(3);
    const order: string[] = [];
    const stopping = worker.stop(20_000).then(() => order.push('stopped'));
    expect(await findRun(fleet.sql, run.run_id)).toMatchObject({ finished_at: null });
    order.push('answered');
    gate.release();
    await stopping;
    expect(order).toEqual(['answered', 'stopped']);
    expect((await gamesOf(fleet.sql, 'acme')).size).toBe(3);
    expect(await findRun(fleet.sql, run.run_id)).toMatchObject({ finished_at: null });
  });
});

const byId = (a: { game_id: string }, b: { game_id: string }): number => (a.game_id < b.game_id ? -1 : 1);
