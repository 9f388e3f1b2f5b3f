import { expect, test } from 'vitest';
import { findOpenRun, findRun } from '#db/queries/runs.ts';
import {
  aFleet,
  type Behaviour,
  goodDetail,
  goodRow,
  idsOf,
  raw,
  startHostileApplication,
  wellBehaved,
} from '#test/support/hostile-application.ts';
import { until } from '#test/support/until.ts';

const down: Behaviour = { list: () => raw('down', 502), detail: () => raw('down', 502) };

test.each([
  ['seconds', () => '1'],
  ['a date', () => new Date(Date.now() + 1_500).toUTCString()],
  ['a date in the past', () => 'Thu, 01 Jan 1970 00:00:00 GMT'],
])('Retry-After in %s is waited for, without spending a try', async (_, header) => {
  const fleet = await aFleet();
  const ids = idsOf('g', 5);
  const refusals = { list: 2, detail: 3 };
  const wait = () => raw('slow down', 429, { 'retry-after': header() });
  const times: number[] = [];
  await startHostileApplication(fleet, 'acme', {
    list: (pageNum) => {
      times.push(Date.now());
      refusals.list -= 1;
      if (refusals.list >= 0) return wait();
      return { data: { total: ids.length, list: pageNum === 1 ? ids.map(goodRow) : [] } };
    },
    detail: (id) => {
      refusals.detail -= 1;
      return refusals.detail >= 0 ? wait() : { data: goodDetail(id) };
    },
  });
  expect(await fleet.sync('acme')).toMatchObject({ outcome: 'succeeded', inserted: 5, failed: 0 });
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(500);
});

test.each([
  ['list', 1],
  ['list', 2],
  ['detail', 1],
] as const)(
  'an open run notes that the application requests a delay of its %s, of page %i, until it ends',
  async (refused, page) => {
    const fleet = await aFleet();
    let isBusy = false;
    const busy = () => raw('later', 503, { 'retry-after': '600' });
    const application = await startHostileApplication(fleet, 'acme', {
      list: (pageNum) =>
        isBusy && refused === 'list' && pageNum === page
          ? busy()
          : { data: { total: 1, list: pageNum === 1 ? [goodRow('g-1')] : [] } },
      detail: (id) => (isBusy && refused === 'detail' ? busy() : { data: goodDetail(id) }),
    });
    // Stored games need no details: then page 2 follows in the job of page 1.
    if (page > 1) await fleet.sync('acme');
    isBusy = true;
    const { run_id } = await fleet.startRun('acme');
    const note = async () => (await findRun(fleet.sql, run_id))?.note ?? '';
    await until('the run has a note', async () => (await note()) !== '');
    expect(await note()).toMatch(
      /^page \d: .*http_status.* 503.*; by Retry-After, the application is called again at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/,
    );
    expect(await note()).toContain(`page ${page}: `);
    isBusy = false;
    const queue = fleet.producer.queue({
      name: refused === 'list' ? 'query-game-list' : 'query-game-detail',
    });
    // The note is written before the job waits.
    await until('its job waits', async () => (await queue.getDelayedCount()) > 0);
    for (const each of await queue.getDelayed()) await each.promote();
    expect(await fleet.ended(run_id)).toMatchObject({ outcome: 'succeeded', note: null });
    expect(application.calls[refused]).toBeGreaterThan(1);
  },
);

test.each([
  // Three postponements and five attempts.
  { retryAfter: '0', callsMax: 8 },
  // Twelve postponements of 1, 2, 4 … s and five attempts.
  { retryAfter: '1', callsMax: 17 },
])(
  'Retry-After: $retryAfter without end costs few calls, and then attempts',
  async ({ retryAfter, callsMax }) => {
    const fleet = await aFleet();
    const application = await startHostileApplication(fleet, 'acme', {
      ...down,
      list: () => raw('later', 503, { 'retry-after': retryAfter }),
    });
    const queue = fleet.producer.queue({ name: 'query-game-list' });
    const { run_id } = await fleet.startRun('acme');
    await until('the run fails', async () => {
      // Postponed jobs alone: BullMQ returns a job to waiting if it is promoted at the moment that it starts by itself.
      for (const each of await queue.getDelayed())
        if (each.delay >= 1_000) await each.promote().catch(() => {});
      return (await findOpenRun(fleet.sql, 'acme')) === undefined;
    });
    expect(await fleet.ended(run_id)).toMatchObject({ outcome: 'failed' });
    expect(application.calls.list).toBeLessThanOrEqual(callsMax);
  },
);

test('details that are limited to two a second all land: progress ends the count of postponements', async () => {
  const fleet = await aFleet();
  const ids = idsOf('g', 12);
  let left = 2;
  const application = await startHostileApplication(
    fleet,
    'acme',
    {
      ...wellBehaved(ids),
      detail: (id) => {
        left -= 1;
        return left >= 0 ? { data: goodDetail(id) } : raw('slow down', 429, { 'retry-after': '0' });
      },
    },
    { concurrency: 1 },
  );
  const queue = fleet.producer.queue({ name: 'query-game-detail' });
  const { run_id } = await fleet.startRun('acme');
  await until('every detail is fetched', async () => {
    for (const each of await queue.getDelayed()) {
      left = 2;
      await each.promote().catch(() => {});
    }
    return (await findOpenRun(fleet.sql, 'acme')) === undefined;
  });
  expect(await fleet.ended(run_id)).toMatchObject({ outcome: 'succeeded', inserted: 12, failed: 0 });
  expect(application.calls.detail).toBeGreaterThan(12);
});

test('a delay that is requested after details were fetched is waited for, however long ago the run last wrote', async () => {
  const fleet = await aFleet();
  const ids = idsOf('g', 2);
  let isReady = false;
  const application = await startHostileApplication(
    fleet,
    'acme',
    {
      list: (pageNum) => ({ data: { total: 2, list: pageNum === 1 ? ids.map(goodRow) : [] } }),
      detail: (id) =>
        application.calls.detail === 1 || isReady
          ? { data: goodDetail(id) }
          : raw('later', 503, { 'retry-after': '300' }),
    },
    { concurrency: 1 },
  );
  const queue = fleet.producer.queue({ name: 'query-game-detail' });
  await queue.pause();
  const { run_id } = await fleet.startRun('acme');
  const pages = () => fleet.sql`select from sync_run_pages where run_id = ${run_id}`;
  await until('the page is recorded', async () => (await pages()).length === 1);
  await fleet.sql`update sync_runs set progress_at = now() - interval '19 minutes'`;
  await queue.resume();
  await until('the delay is waited for', async () => (await queue.getDelayedCount()) === 1);
  const [job] = await queue.getDelayed();
  expect(job?.delay).toBeGreaterThan(200_000);
  // No attempt was spent.
  expect(application.calls.detail).toBe(2);
  isReady = true;
  await job?.promote();
  expect(await fleet.ended(run_id)).toMatchObject({ outcome: 'succeeded', inserted: 2 });
});

test('an application that asks to wait for ever is one that fails: its run ends', async () => {
  const fleet = await aFleet();
  await startHostileApplication(fleet, 'acme', {
    ...down,
    list: () => raw('later', 503, { 'retry-after': '999999999' }),
  });
  const run = await fleet.startRun('acme');
  await until(
    'the run waits',
    async () => (await fleet.producer.queue({ name: 'query-game-list' }).getDelayedCount()) === 1,
  );
  // The first wait is of 15 minutes; a second one would be too long.
  await fleet.sql`update sync_runs set progress_at = now() - interval '15 minutes'`;
  const [job] = await fleet.producer.queue({ name: 'query-game-list' }).getDelayed();
  // The job is due by the clock of Postgres, which may be some milliseconds ahead.
  expect(job?.delay).toBeLessThanOrEqual(15 * 60_000 + 1_000);
  await job?.promote();
  expect(await fleet.ended(run.run_id)).toMatchObject({
    outcome: 'failed',
    reason: 'page 1: http_status HTTP 503',
  });
});

test('an application whose details ask to wait for ever is one that fails: its run ends at the first page', async () => {
  const fleet = await aFleet();
  const application = await startHostileApplication(
    fleet,
    'acme',
    {
      ...wellBehaved(idsOf('g', 100)),
      detail: () => raw('later', 503, { 'retry-after': '900' }),
    },
    { concurrency: 1 },
  );
  const run = await fleet.startRun('acme');
  const queue = fleet.producer.queue({ name: 'query-game-detail' });
  await until('the run waits', async () => (await queue.getDelayedCount()) === 1);
  // A second wait would be too long; its later attempts are seconds apart.
  await fleet.sql`update sync_runs set progress_at = now() - interval '15 minutes'`;
  // Once only: a promotion that meets the job's own retry would run it twice.
  for (const each of await queue.getDelayed()) await each.promote();
  const ended = await fleet.ended(run.run_id);
  expect(ended).toMatchObject({ outcome: 'failed', listed: 100, failed: 100, inserted: 0 });
  expect(ended.reason).toMatch(/^no detail call of page 1 was answered/);
  // One before the wait, and one for each attempt.
  expect(application.calls.detail).toBeLessThanOrEqual(5);
});
