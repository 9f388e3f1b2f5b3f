import { beforeEach, expect, test } from 'vitest';
import type { FetchFailure } from '#src/contract/pictures.ts';
import { createHostLimiter, type HostLimiter, type RequestResult } from '#src/pictures/host-limiter.ts';

const MINUTE_MS = 60_000;
const turnLimits = { waitMs: 10_000, againMs: 15 * MINUTE_MS };
let nowMs: number;
let hosts: HostLimiter;
beforeEach(() => {
  nowMs = 1;
  hosts = createHostLimiter(() => nowMs);
});

/**
 * Requests a picture. @param end how the request ends; `unnecessary`: no request was sent
 * @returns how it ended, or for how long its host is in backoff
 */
const request = async (
  host: string,
  end: FetchFailure | 'shown' | 'unnecessary' = 'timeout',
  busyMs = 0,
  application_id = 'acme',
): Promise<unknown> => {
  const result = await hosts.run<RequestResult>(
    { url: `https://${host}/icon.png`, application_id, turnLimits },
    async () => {
      if (end === 'unnecessary') return { outcome: undefined };
      if (end === 'shown') return { outcome: end };
      const retry = busyMs === 0 ? {} : { retryAfterMs: busyMs };
      return { outcome: end, failure: { outcome: end, http_status: null, ...retry } };
    },
    async ({ outcome, retryAfterMs }) => ({ outcome: `${outcome} for ${retryAfterMs} ms` }),
  );
  return result.outcome;
};

test('two failures in a row begin a backoff, which doubles up to 15 minutes', async () => {
  await request('a.test');
  expect(await request('a.test')).toBe('timeout');
  for (const minutes of [1, 2, 4, 8, 15, 15]) {
    expect(await request('a.test')).toBe(`timeout for ${minutes * MINUTE_MS} ms`);
    nowMs += minutes * MINUTE_MS;
    expect(await request('a.test')).toBe('timeout');
  }
  expect(await request('b.test', 'shown')).toBe('shown');
});

test('failures of one application at a host hide no picture of another there; a busy host is left alone by all', async () => {
  for (let n = 0; n < 10; n += 1) await request('cdn.test', 'timeout', 0, 'broken');
  expect(await request('cdn.test', 'shown', 0, 'broken')).toBe(`timeout for ${MINUTE_MS} ms`);
  expect(await request('cdn.test', 'shown', 0, 'other')).toBe('shown');
  expect(await request('cdn.test', 'shown', 0, 'broken')).toBe(`timeout for ${MINUTE_MS} ms`);
  await request('cdn.test', 'busy', 5_000, 'other');
  expect(await request('cdn.test', 'shown', 0, 'third')).toBe('busy for 5000 ms');
});

test('a response ends the row of failures, also one that is no picture or says busy', async () => {
  for (const outcome of ['shown', 'not_found', 'busy'] as const) {
    await request('a.test');
    expect(await request('a.test', outcome)).toBe(outcome);
    await request('a.test');
    expect(await request('a.test', 'shown')).toBe('shown');
  }
});

test('a picture that needs no request does not end the row of failures', async () => {
  await request('a.test');
  await request('a.test', 'unnecessary');
  await request('a.test');
  expect(await request('a.test')).toBe(`timeout for ${MINUTE_MS} ms`);
});

test('a busy host gets no request for as long as it says', async () => {
  await request('a.test', 'busy', 5_000);
  nowMs += 4_000;
  expect(await request('a.test', 'shown')).toBe('busy for 1000 ms');
  nowMs += 1_000;
  expect(await request('a.test', 'shown')).toBe('shown');
});

test('of many hosts in backoff, those whose backoff ends first are forgotten', async () => {
  for (const host of ['short.test', 'short.test']) await request(host);
  await request('long.test', 'busy', 10 * MINUTE_MS);
  for (let n = 0; n < 5_000; n += 1)
    for (let twice = 0; twice < 2; twice += 1) await request(`${n}.test`, 'timeout', 0, `app-${n}`);
  expect(await request('short.test', 'shown')).toBe('shown');
  expect(await request('long.test', 'shown')).toBe(`busy for ${10 * MINUTE_MS} ms`);
});

/** Requests that end when they are told to. */
const openRequests = () => {
  const ends: (() => void)[] = [];
  const started: string[] = [];
  const open = (host: string) =>
    hosts.run<RequestResult>(
      {
        url: `https://${host}/icon.png`,
        application_id: host === 'other.test' ? 'other' : 'acme',
        turnLimits,
      },
      async () => {
        started.push(host);
        await new Promise<void>((resolve) => ends.push(resolve));
        return { outcome: 'shown' };
      },
      async () => ({ outcome: 'backoff' }),
    );
  return { ends, started, open };
};

test('a host gets one request at a time, all hosts three', async () => {
  const { ends, started, open } = openRequests();
  const all = ['a.test', 'a.test', 'b.test', 'c.test', 'd.test'].map(open);
  await expect.poll(() => started).toEqual(['a.test', 'b.test', 'c.test']);
  ends[1]?.();
  await all[2];
  await expect.poll(() => started).toEqual(['a.test', 'b.test', 'c.test', 'd.test']);
  ends[0]?.();
  await all[0];
  await expect.poll(() => started.at(-1)).toBe('a.test');
  for (const end of ends) end();
  await Promise.all(all);
});

test('an application with a host for each picture does not delay the pictures of another', async () => {
  const { ends, started, open } = openRequests();
  const all = [...Array.from({ length: 200 }, (_, n) => `${n}.wild.test`), 'other.test'].map(open);
  await expect.poll(() => started).toEqual(['0.wild.test', '1.wild.test', '2.wild.test']);
  ends[0]?.();
  await expect.poll(() => started.at(-1)).toBe('other.test');
  for (let n = 1; n < all.length; n += 1) {
    await expect.poll(() => ends[n]).toBeDefined();
    ends[n]?.();
  }
  await Promise.all(all);
});

test('an application whose requests fail at six hosts in a row gets a backoff, another one does not', async () => {
  for (let n = 0; n < 6; n += 1) expect(await request(`${n}.wild.test`)).toBe('timeout');
  expect(await request('7.wild.test')).toBe(`timeout for ${MINUTE_MS} ms`);
  expect(await request('7.wild.test', 'shown', 0, 'other')).toBe('shown');
  nowMs += MINUTE_MS;
  expect(await request('8.wild.test', 'shown')).toBe('shown');
  expect(await request('9.wild.test')).toBe('timeout');
});

test('an application whose picture is decoded slowly waits nine times as long, whatever follows; others do not', async () => {
  const decode = async (decodeMs: number, application_id = 'acme') =>
    (
      await hosts.run<RequestResult>(
        { url: `https://${decodeMs}.test/icon.png`, application_id, turnLimits },
        async () => ({ outcome: 'shown', decodeMs }),
        async ({ outcome, retryAfterMs }) => ({ outcome: `${outcome} for ${retryAfterMs} ms` }),
      )
    ).outcome;
  expect(await Promise.all([decode(4_000), decode(10)])).toEqual(['shown', 'shown']);
  expect(await decode(10)).toBe('busy for 36000 ms');
  expect(await decode(10, 'other')).toBe('shown');
  nowMs += 36_000;
  expect(await decode(10)).toBe('shown');
});

test('a request whose turn does not come in time gives it up, and later ones do not wait, until the host is quick', async () => {
  let sent = 0;
  const ask = (tookMs: number, waitMs = turnLimits.waitMs) =>
    hosts.run<RequestResult>(
      { url: 'https://slow.test/icon.png', application_id: 'acme', turnLimits: { ...turnLimits, waitMs } },
      async () => {
        sent += 1;
        nowMs += tookMs;
        return { outcome: 'shown' };
      },
      async (failure) => ({ outcome: undefined, failure }),
    );
  const pausesOf = async (results: Promise<RequestResult>[]) =>
    (await Promise.all(results)).flatMap(({ failure }) => failure?.retryAfterMs ?? []);
  const many = (count: number, tookMs: number) => Array.from({ length: count }, () => ask(tookMs));
  expect(hosts.isBehind('https://slow.test/1')).toBe(false);
  // They are to come back one after another, and within 15 minutes.
  const pauses = await pausesOf(many(200, 9_000));
  expect(sent).toBe(2);
  expect(pauses.slice(0, 3)).toEqual([10_000, 19_000, 28_000]);
  expect(Math.max(...pauses)).toBe(15 * MINUTE_MS);
  expect(hosts.isBehind('https://slow.test/2')).toBe(true);
  // As many wait as will have their turn in time. Who is more patient finds room.
  const checks = many(4, 9_000);
  const look = ask(9_000, 20_000);
  expect(await pausesOf(checks)).toHaveLength(2);
  expect(await look).toEqual({ outcome: 'shown' });
  expect(await pausesOf(many(1, 40))).toEqual([]);
  expect(hosts.isBehind('https://slow.test/3')).toBe(false);
  expect(await pausesOf(many(200, 40))).toEqual([]);
});
