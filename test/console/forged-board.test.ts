import type { Job } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { buildConsole } from '#src/console/app.ts';
import { deliverEvent, fetchPictures, tick } from '#src/ingest/specs.ts';
import { addTestOperator, signIn } from '#test/support/console.ts';
import { addApplication } from '#test/support/factories.ts';
import { startRedisWithUsers } from '#test/support/redis-users.ts';
import { openAs } from '#test/support/roles.ts';
import { serveSite, type TestSite } from '#test/support/site.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

// What a viewer sees of jobs that somebody wrote who has taken over another process.
const database = useTestDatabase();
let served: TestSite;
let cookie: string;
let close = async () => {};

beforeAll(async () => {
  const sql = openAs('console', database.databaseUrl);
  const place = { sql, databaseUrl: database.databaseUrl, redisUrl: undefined, prefix: 'bull' };
  served = await serveSite(place, buildConsole);
  close = async () => {
    await served.stop();
    await sql.end({ timeout: 1 });
  };
  await addTestOperator(database.sql, 'vera', 'viewer');
  await addTestOperator(database.sql, 'olga', 'admin');
  cookie = await signIn(served.url, 'vera');
});
afterAll(() => close());

const read = async (path: string): Promise<string> => {
  const answer = await fetch(new URL(`/queues/api/queues${path}`, served.url), {
    headers: { cookie },
    signal: AbortSignal.timeout(20_000),
  });
  expect(answer.status).toBe(200);
  return answer.text();
};
const queue = () => served.producer.queue(deliverEvent as never);
const setOptions = (id: string, opts: object) =>
  database.sql`update bullmq.job set opts = ${database.sql.json(opts as never)} where id = ${id}`;

test('a page of jobs of a megabyte each has their names, and the data of those that are as ours', async () => {
  const long = 'x'.repeat(300_000);
  let forged: Job | undefined;
  for (let count = 0; count < 20; count += 1)
    forged = await queue().add('forged', { application_id: long } as never);
  await queue().add('ours', { application_id: 'acme' } as never);
  const path = `?activeQueue=${deliverEvent.name}&status=waiting&page=1&jobsPerPage=200`;
  const text = await read(path);
  expect(text.length).toBeLessThan(100_000);
  expect(text.split('"forged"')).toHaveLength(21);
  expect(text).toContain('{"application_id":"acme"}');
  expect((await read(`/${deliverEvent.name}/${forged?.id}`)).length).toBeLessThan(10_000);
  await database.sql`
    insert into bullmq.job_log (queue, job_id, idx, row)
    select ${deliverEvent.name}, ${forged?.id ?? ''}, n, repeat('x', 900000) from generate_series(1, 20) n`;
  expect((await read(`/${deliverEvent.name}/${forged?.id}/logs`)).length).toBeLessThan(10_000);
});

test('a job or a scheduler of no time of a calendar ends no page', async () => {
  await addApplication(database.sql, 'acme');
  for (const end of ['9223372036854775807', '-9223372036854775808', '8640000000000000']) {
    await database.sql`
      insert into bullmq.job (queue, id, seq, name, state, added_at_ms, finished_at_ms)
      values (${fetchPictures.name}, ${end}, 0, 'forged', 'failed', 0, ${end})`;
    const ticks = served.producer.queue(tick as never);
    await ticks.upsertJobScheduler('games.acme', { every: 3_600_000 });
    await database.sql`update bullmq.scheduler set next_run_ms = ${end}`;
    for (const page of ['/', '/queues', '/applications/acme']) {
      const { status } = await fetch(new URL(page, served.url), { headers: { cookie } });
      expect([end, page, status]).toEqual([end, page, 200]);
    }
    await database.sql`delete from bullmq.job`;
    await database.sql`delete from bullmq.scheduler`;
  }
});

test('of many schedulers, as thousands of applications have, a viewer reads those that are due next', async () => {
  const ticks = served.producer.queue(tick as never);
  const every = 3_600_000;
  const add = (n: number) =>
    ticks.upsertJobScheduler(`games.${n}`, { every, startDate: Date.now() + (1_000 - n) * every });
  for (let n = 0; n < 250; n += 1) await add(n);
  const answer = await fetch(new URL('/queues/api/job-schedulers', served.url), { headers: { cookie } });
  const { schedulers } = (await answer.json()) as { schedulers: { id: string }[] };
  expect(schedulers).toHaveLength(200);
  expect(schedulers[0]?.id).toBe('games.249');
});

test('jobs that are parents of each other are read once, and their children one level deep', async () => {
  const name = deliverEvent.name;
  const parentOf = (id: string) => ({ parent: { id, queue: name } });
  await queue().add('one', {} as never, { jobId: 'one' });
  await queue().add('two', {} as never, { jobId: 'two' });
  await setOptions('one', parentOf('two'));
  await setOptions('two', parentOf('one'));
  const job = await queue().getJob('one');
  expect([job?.opts.parent?.id, job?.opts.parent?.queue]).toEqual(['two', job?.queueQualifiedName]);
  for (const end of ['flow', '%66low', 'flow?root=tree&depth=20&maxChildren=1000'])
    expect(JSON.parse(await read(`/${name}/one/${end}`))).toMatchObject({ nodeId: 'one' });
});

test('an administrator retries every failed job, also those too large to be shown, as they are', async () => {
  const long = { application_id: 'x'.repeat(30_000) };
  const ids: string[] = [];
  for (let count = 0; count < 4; count += 1) ids.push((await queue().add('failed', long as never)).id ?? '');
  await database.sql`update bullmq.job set state = 'failed', failed_reason = 'no' where id = any(${ids})`;
  const { status } = await fetch(
    new URL(`/queues/api/queues/${deliverEvent.name}/retry/failed`, served.url),
    { method: 'PUT', headers: { cookie: await signIn(served.url, 'olga') } },
  );
  expect(status).toBe(200);
  for (const id of ids) {
    const job = await queue().getJob(id);
    expect([await job?.getState(), job?.data]).toEqual(['waiting', long]);
  }
});

test.skipIf(inject('redisUrl') === null)(
  'an administrator removes a job of the media process, and no job of others that it names as its child, and sees what cannot be read',
  async () => {
    await using stack = new AsyncDisposableStack();
    const redis = stack.use(await startRedisWithUsers());
    const sql = openAs('console', database.databaseUrl);
    stack.defer(() => sql.end({ timeout: 1 }));
    const place = { sql, databaseUrl: database.databaseUrl, redisUrl: redis.urlOf('console') };
    const site = await serveSite({ ...place, prefix: '{catalogue}' }, buildConsole);
    stack.defer(site.stop);
    const { id } = await site.producer.add(deliverEvent, { application_id: 'acme' });
    const media = new Redis(redis.urlOf('media'));
    stack.defer(() => media.disconnect());
    const key = `{catalogue}:${fetchPictures.name}`;
    await media.hset(`${key}:forged`, { name: 'forged', data: '{}', opts: '{}', timestamp: '1' });
    await media.zadd(`${key}:failed`, 1, 'forged');
    await media.sadd(`${key}:forged:dependencies`, `{catalogue}:${deliverEvent.name}:${id}`);
    const headers = { cookie: await signIn(site.url, 'olga') };
    const ask = (path: string, method = 'GET') =>
      fetch(new URL(path, site.url), { method, headers, signal: AbortSignal.timeout(20_000) });
    const act = async (name: string) =>
      (await ask(`/queues/api/queues/${fetchPictures.name}/forged/${name}`, 'PUT')).status;
    expect([await act('remove-unprocessed-children'), await act('clean')]).toEqual([400, 204]);
    expect(await media.exists(`${key}:forged`)).toBe(0);
    expect(await site.producer.queue(deliverEvent).getJobState(id ?? '')).toBe('waiting');

    // A hash that is no job, and a key of another type.
    const board = `/queues/api/queues?activeQueue=${fetchPictures.name}&status=failed&page=1`;
    const sentence = 'see who else writes to the queues';
    for (const broken of [{ data: '{' }, { data: '{}', opts: 'null' }]) {
      await media.hset(`${key}:broken`, { ...broken, failedReason: 'x'.repeat(50_000) });
      await media.zadd(`${key}:failed`, 1, 'broken');
      expect(await (await ask(board)).text()).toContain('This job cannot be read.');
      expect(await (await ask('/queues')).text()).toContain(sentence);
      expect((await ask(`/queues/api/queues/${fetchPictures.name}/broken/clean`, 'PUT')).status).toBe(204);
      expect(await (await ask('/queues')).text()).not.toContain(sentence);
    }
    // Redis does not send a job of 25 MB.
    const fill = "for n = 1, 25 do redis.call('hset', KEYS[1], 'junk' .. n, string.rep('x', 1000000)) end";
    await media.eval(fill, 1, `${key}:huge`);
    await media.zadd(`${key}:failed`, 1, 'huge');
    expect(await (await ask(board)).text()).toContain('This job cannot be read.');
    expect(await (await ask('/queues')).text()).toContain(sentence);
    expect((await ask(`/queues/api/queues/${fetchPictures.name}/huge/clean`, 'PUT')).status).toBe(204);
    expect(await (await ask('/queues')).text()).not.toContain(sentence);
    // Nor an id of 25 MB.
    await media.eval("redis.call('zadd', KEYS[1], 1, string.rep('x', 25000000))", 1, `${key}:failed`);
    expect(await (await ask('/queues')).text()).toContain(sentence);
    await media.del(`${key}:failed`);
    await media.set(`${key}:delayed`, 'no list');
    expect(await (await ask('/queues')).text()).toContain(sentence);
  },
);
