// The column "plain job": what a schedule costs with nothing around it. One BullMQ job of a scheduler calls the
// application, compares hashes with those that are stored, and writes one row.
import { createHash } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import postgres from 'postgres';
import { request } from 'undici';
import { endWithParent } from '#test/bench/processes.ts';

export type IdleRequest = {
  databaseUrl: string;
  redisUrl: string;
  ports: number[];
  everyMs: number;
  /** `/list` or `/kyc`. */
  path: string;
};

type Compared = { game_id: string };
type Due = { application_id: string; port: number };

const HEADERS = { 'content-type': 'application/json; charset=utf-8', authorization: 'Bearer bench-token' };
const BODIES: Record<string, string> = { '/list': '{"page_num":1,"page_size":100}', '/kyc': '{}' };

const hash = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64');

const start = async ({ databaseUrl, redisUrl, ports, everyMs, path }: IdleRequest): Promise<void> => {
  const sql = postgres(databaseUrl, { max: 20 });
  await sql`
    create table plain_hashes (application_id text, id text, hash text, primary key (application_id, id))`;
  await sql`create table plain_runs (run_id bigserial primary key, application_id text, listed int, changed int)`;
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const queue = new Queue<Due>('plain', { connection });
  const call = async (port: number): Promise<Compared[]> => {
    const body = BODIES[path] as string;
    const response = await request(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: HEADERS,
      body,
    });
    const { data } = (await response.body.json()) as { data: { list?: Compared[] } };
    return data.list ?? [{ ...data, game_id: 'record' }];
  };
  const worker = new Worker<Due>(
    'plain',
    async ({ data: { application_id, port } }) => {
      const [list, stored] = [
        await call(port),
        await sql<{ id: string; hash: string }[]>`
        select id, hash from plain_hashes where application_id = ${application_id}`,
      ];
      const before = new Map(stored.map((row) => [row.id, row.hash]));
      const rows = list.map((row) => ({ application_id, id: row.game_id, hash: hash(row) }));
      const changed = rows.filter((row) => before.get(row.id) !== row.hash);
      if (changed.length > 0) await sql`insert into plain_hashes ${sql(changed)}`;
      const run = { application_id, listed: rows.length, changed: changed.length };
      await sql`insert into plain_runs ${sql(run)}`;
    },
    { connection, concurrency: 100, removeOnComplete: { count: 1_000 } },
  );
  await worker.waitUntilReady();
  for (const [index, port] of ports.entries()) {
    const every = { every: everyMs, offset: 1 + Math.floor((everyMs * index) / ports.length) };
    const data = { application_id: `bench-${index}`, port };
    await queue.upsertJobScheduler(`plain-${index}`, every, { name: 'plain', data });
  }
  process.send?.({ started: true });
};

endWithParent();
process.on('message', (message: { go?: IdleRequest }) => {
  if (message.go !== undefined) void start(message.go);
});
process.send?.({ ready: true });
