import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findRun, type RunRow } from '#db/queries/runs.ts';
import { recoverRuns } from '#src/ingest/recover-runs.ts';
import { queryGameList } from '#src/ingest/specs.ts';
import { CONTINUE_MS, PAGES_A_JOB, stepId } from '#src/ingest/steps.ts';
import { startRawServer } from '#test/support/application-server.ts';
import { moveWebhooks, webhooksAt } from '#test/support/factories.ts';
import { fleetBackend, startTestFleet, type TestFleet } from '#test/support/fleet.ts';
import { until } from '#test/support/until.ts';

const GAMES = 193;
const PER_PAGE = 5;
const PAGES = 39;
const live = new AbortController().signal;

/** What a server does instead of answering a page. */
type Instead = { status: number; headers?: Record<string, string>; hangUp?: boolean };

describe('Pages that nothing has changed on', () => {
  let fleet: TestFleet;
  /** When each page was requested. */
  let asked: Map<number, number[]>;
  let instead: (page_num: number) => Instead | Promise<void> | undefined;

  /** An application of many pages whose first run is over: from now on nothing changes. */
  beforeEach(async () => {
    fleet = await startTestFleet(fleetBackend());
    const { server } = await fleet.addApplication('acme', GAMES);
    instead = () => undefined;
    const front = await startRawServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString();
      const { page_num } = JSON.parse(body);
      asked.set(page_num, [...(asked.get(page_num) ?? []), performance.now()]);
      const other = await instead(page_num);
      if (other?.hangUp === true) return void request.socket.destroy();
      if (other !== undefined) return void response.writeHead(other.status, other.headers).end();
      const { authorization = '' } = request.headers;
      const headers = { authorization, 'content-type': 'application/json; charset=utf-8' };
      const url = webhooksAt(server.url).query_game_list_webhook;
      const answer = await fetch(url, { method: 'POST', headers, body });
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
    });
    closeFront = front.close;
    asked = new Map();
    const worker = await fleet.startWorker();
    expect(await fleet.sync('acme')).toMatchObject({ outcome: 'succeeded', inserted: GAMES });
    await worker.stop(5_000);
    const { page } = server.games;
    server.games.page = (num) => page(num, PER_PAGE);
    await moveWebhooks(fleet.sql, 'acme', { query_game_list_webhook: front.url });
  });
  let closeFront: () => Promise<void>;
  afterEach(async () => {
    await fleet.stop();
    await closeFront();
  });

  const jobsOf = async (run: RunRow) => {
    const pages = Array.from({ length: PAGES }, (_, index) => stepId(run, index + 1));
    const found = await Promise.all(pages.map((id) => fleet.producer.queue(queryGameList).getJob(id)));
    return found.filter((job) => job !== undefined);
  };
  const timesAsked = () =>
    Object.fromEntries([...asked].map(([page_num, times]) => [page_num, times.length]));
  const once = Object.fromEntries(Array.from({ length: PAGES }, (_, index) => [index + 1, 1]));
  const sync = async (): Promise<RunRow> => {
    await fleet.startWorker();
    return fleet.sync('acme');
  };

  it('follow each other in one job, each requested once', async () => {
    const run = await sync();
    expect(run).toMatchObject({ outcome: 'succeeded', listed: GAMES, unchanged: GAMES, note: null });
    expect(timesAsked()).toEqual(once);
    await until('the last job is acknowledged', async () => {
      const states = await Promise.all((await jobsOf(run)).map((job) => job.getState()));
      return states.every((state) => state === 'completed');
    });
    const pages = (await jobsOf(run)).map((job) => job.returnvalue.pages);
    expect(pages.reduce((sum, each) => sum + each, 0)).toBe(PAGES);
    expect(pages.length).toBeLessThan(PAGES);
    expect(Math.max(...pages)).toBeLessThanOrEqual(PAGES_A_JOB);
  });

  it('are no longer followed by the next one in the same job when they are slow to come', async () => {
    instead = () => sleep(CONTINUE_MS + 10);
    const run = await sync();
    expect(run).toMatchObject({ outcome: 'succeeded', unchanged: GAMES });
    expect(await jobsOf(run)).toHaveLength(PAGES);
  });

  it('are requested five times each at most, in all jobs together', async () => {
    instead = (page_num) =>
      page_num === 3 && (asked.get(3)?.length ?? 0) < 5 ? { status: 0, hangUp: true } : undefined;
    expect(await sync()).toMatchObject({ outcome: 'succeeded', unchanged: GAMES });
    expect(timesAsked()).toEqual({ ...once, 3: 5 });

    asked.clear();
    instead = (page_num) => (page_num === 3 ? { status: 503 } : undefined);
    const run = await fleet.sync('acme');
    expect(run).toMatchObject({ outcome: 'partial', unchanged: GAMES - PER_PAGE, withdrawn: 0 });
    expect(run.reason).toMatch(/^page 3 could not be read: /);
    expect(timesAsked()).toEqual({ ...once, 3: 5, [PAGES + 1]: 1, [PAGES + 2]: 1 });
  });

  it('end the run where they are refused, by a job that knows the application as it is', async () => {
    instead = (page_num) => (page_num === 3 ? { status: 404 } : undefined);
    const run = await sync();
    expect(run).toMatchObject({ outcome: 'failed', withdrawn: 0 });
    expect(run.reason).toMatch(/^page 3: /);
    // Twice, unless the pages before it were slow to come and it had its own job from the beginning.
    const job = await fleet.producer.queue(queryGameList).getJob(stepId(run, 3));
    const handedOn = job?.opts.attempts !== queryGameList.options.attempts;
    expect(timesAsked()).toEqual({ 1: 1, 2: 1, 3: handedOn ? 2 : 1 });
  });

  it('wait as long as the application asks, which spends no try', async () => {
    instead = (page_num) =>
      page_num === 3 && asked.get(3)?.length === 1
        ? { status: 429, headers: { 'retry-after': '1' } }
        : undefined;
    const run = await fleet.startRun('acme');
    // In a backlog it stood still for longer than a run may wait.
    await fleet.sql`update sync_runs set progress_at = now() - interval '25 minutes'`;
    await fleet.startWorker();
    expect(await fleet.ended(run.run_id)).toMatchObject({ outcome: 'succeeded', unchanged: GAMES });
    expect(timesAsked()).toEqual({ ...once, 3: 2 });
    const [first = 0, second = 0] = asked.get(3) ?? [];
    expect(second - first).toBeGreaterThan(950);
    const job = await fleet.producer.queue(queryGameList).getJob(stepId(run, 3));
    expect(job?.opts.attempts).toBe(queryGameList.options.attempts);
  });

  it('are left to the job that fetches them, however far it is', async () => {
    const gate = Promise.withResolvers<void>();
    instead = (page_num) => (page_num === 3 ? gate.promise : undefined);
    await fleet.startWorker();
    const run = await fleet.startRun('acme');
    await until('the third page is requested', () => asked.has(3));
    await fleet.sql`update sync_runs set progress_at = now() - interval '2 hours' where run_id = ${run.run_id}`;
    const patience = { idleMs: 0, abandonMs: 60_000 };
    const seen = await recoverRuns(fleet.sql, fleet.producer, live, patience);
    expect(seen).toEqual({ recovered: 0, abandoned: 0 });
    gate.resolve();
    expect(await fleet.ended(run.run_id)).toMatchObject({ outcome: 'succeeded', fence: 1 });
    expect(timesAsked()).toEqual(once);
  });

  it('resume at the same page after their worker stops', async () => {
    const gate = Promise.withResolvers<void>();
    instead = (page_num) => (page_num === 3 ? gate.promise : undefined);
    const worker = await fleet.startWorker();
    const run = await fleet.startRun('acme');
    await until('the third page is requested', () => asked.has(3));
    await worker.stop(50);
    expect(await findRun(fleet.sql, run.run_id)).toMatchObject({ next_page: 3, finished_at: null });
    gate.resolve();
    await fleet.startWorker();
    expect(await fleet.ended(run.run_id)).toMatchObject({ outcome: 'succeeded', unchanged: GAMES, fence: 1 });
    expect(timesAsked()).toEqual({ ...once, 3: 2 });
  });
});
