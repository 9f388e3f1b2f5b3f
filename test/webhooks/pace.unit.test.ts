import { expect, test } from 'vitest';
import { createProcessPace, createStopwatch } from '#src/webhooks/pace.ts';
import { isDone, live } from '#test/support/webhooks.ts';

const LIMITS = {
  bytesOfOne: 1_000,
  bytes: 1_000,
  ordinaryMs: 5,
  shareOfOne: 0.001,
  share: 0.001,
  creditMs: 0,
  maxWaitMs: 60_000,
};

test.each([
  ['bytes', { bytes: 200_000, ms: 0 }],
  ['time', { bytes: 0, ms: 6 }],
])(
  'an application waits for the %s that its responses took, and no other application does',
  async (_, cost) => {
    const pace = createProcessPace(LIMITS);
    pace.charge('acme', cost);
    pace.charge('ordinary', { bytes: 60_000, ms: 5 });
    const abort = new AbortController();
    const waiting = pace.wait('acme', abort.signal);
    expect(await isDone(pace.wait('ordinary', live()))).toBe(true);
    expect(await isDone(waiting)).toBe(false);
    abort.abort();
    await waiting;
  },
);

test.each([
  ['bytes', { bytes: 100_000, ms: 0 }],
  ['time', { bytes: 0, ms: 100 }],
])('applications that cost much share the pace of the process: %s', async (_, cost) => {
  const pace = createProcessPace({
    ...LIMITS,
    bytesOfOne: 1_000_000,
    bytes: 1_000_000,
    shareOfOne: 1,
    share: 1,
  });
  const from = performance.now();
  for (const id of ['a', 'b', 'c', 'd']) pace.charge(id, cost);
  await Promise.all(['a', 'b', 'c', 'd'].map((id) => pace.wait(id, live())));
  expect(performance.now() - from).toBeGreaterThanOrEqual(399);
});

test('however many applications cost much, each waits', async () => {
  const pace = createProcessPace({ ...LIMITS, creditMs: 10 });
  const ids = Array.from({ length: 300 }, (_, index) => `app-${index}`);
  for (let times = 0; times < 9; times += 1) for (const id of ids) pace.charge(id, { bytes: 0, ms: 6 });
  const abort = new AbortController();
  const waiting = ids.map((id) => pace.wait(id, abort.signal));
  for (const each of waiting.slice(0, 20)) expect(await isDone(each)).toBe(false);
  abort.abort();
  await Promise.all(waiting);
});

test('an application need not wait for one response that took long by chance, also beside others that wait', async () => {
  const pace = createProcessPace({ ...LIMITS, creditMs: 10 });
  for (let times = 0; times < 9; times += 1) {
    for (const id of ['a', 'b', 'c', 'd']) pace.charge(id, { bytes: 0, ms: 6 });
  }
  pace.charge('ordinary', { bytes: 0, ms: 9 });
  expect(await isDone(pace.wait('ordinary', live()))).toBe(true);
  const abort = new AbortController();
  const waiting = ['a', 'b', 'c', 'd'].map((id) => pace.wait(id, abort.signal));
  for (const each of waiting) expect(await isDone(each)).toBe(false);
  abort.abort();
  await Promise.all(waiting);
});

/** Keeps this thread busy until it has had this much CPU time. */
const work = (ms: number): void => {
  const from = process.threadCpuUsage();
  let used = 0;
  while (used < ms) {
    const { user, system } = process.threadCpuUsage(from);
    used = (user + system) / 1_000;
  }
};

test('a stopwatch counts work that throws', () => {
  const watch = createStopwatch();
  expect(() =>
    watch.time(() => {
      work(20);
      throw new Error('refused');
    }),
  ).toThrow('refused');
  expect(watch.ms()).toBeGreaterThanOrEqual(20);
});

/** The thread is not scheduled for this time. */
const sleepThread = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
};

test('a stopwatch does not count the time in which the thread was not scheduled', () => {
  const watch = createStopwatch();
  watch.time(() => sleepThread(200));
  expect(watch.ms()).toBeLessThan(100);
});

test('a stopwatch does not count what others did between two parts of its work', () => {
  const watch = createStopwatch();
  watch.time(() => {});
  work(200);
  watch.time(() => sleepThread(200));
  expect(watch.ms()).toBeLessThan(100);
});
