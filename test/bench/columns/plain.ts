// The column "plain": what one would write first. One BullMQ job a game, got's promise interface, zod, one
// drizzle upsert a row.
import { randomUUIDv7 } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import { pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/postgres-js';
import got from 'got';
import { Redis } from 'ioredis';
import postgres from 'postgres';
import { z } from 'zod';
import { answerGo } from '#test/bench/columns/reference.ts';

const games = pgTable(
  'reference_games',
  {
    game_id: uuid().primaryKey(),
    application_id: text().notNull(),
    application_game_id: text().notNull(),
    game_name: text().notNull(),
    game_icon: text().array().notNull(),
    game_desc: text().notNull(),
    game_store_video: text().notNull(),
    game_store_pic: text().array().notNull(),
  },
  (table) => [uniqueIndex().on(table.application_id, table.application_game_id)],
);
const envelope = <Data extends z.ZodType>(data: Data) =>
  z.object({ ret_code: z.literal(0), ret_msg: z.string(), data });
const listAnswer = envelope(
  z.object({ total: z.int(), list: z.array(z.object({ game_id: z.string().min(1) })) }),
);
const detailAnswer = envelope(
  z.object({
    game_id: z.string().min(1),
    game_name: z.string(),
    game_icon: z.array(z.url()),
    game_info: z.string(),
    game_store_video: z.union([z.literal(''), z.url()]),
    game_store_pic: z.array(z.url()),
  }),
);
type GameJob = { application_id: string; port: number; game_id: string };

answerGo(async ({ databaseUrl, redisUrl, ports, games: perApplication, concurrency }) => {
  const client = got.extend({
    timeout: { request: 15_000 },
    headers: { authorization: 'Bearer bench-token' },
    responseType: 'json',
  });
  const sql = postgres(databaseUrl, { max: 20 });
  const db = drizzle(sql);
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const queue = new Queue<GameJob>('plain', { connection });
  let left = perApplication * ports.length;
  const done = Promise.withResolvers<void>();
  const worker = new Worker<GameJob>(
    'plain',
    async ({ data: { application_id, port, game_id } }) => {
      const { body } = await client.post(`http://127.0.0.1:${port}/detail`, { json: { game_id } });
      const { data } = detailAnswer.parse(body);
      const content = {
        game_name: data.game_name,
        game_icon: data.game_icon,
        game_desc: data.game_info,
        game_store_video: data.game_store_video,
        game_store_pic: data.game_store_pic,
      };
      await db
        .insert(games)
        .values({ game_id: randomUUIDv7(), application_id, application_game_id: game_id, ...content })
        .onConflictDoUpdate({ target: [games.application_id, games.application_game_id], set: content });
    },
    { connection, concurrency: concurrency * ports.length, removeOnComplete: { count: 1_000 } },
  );
  worker.on('completed', () => {
    left -= 1;
    if (left === 0) done.resolve();
  });
  worker.on('failed', (_job, error) => done.reject(error));
  await Promise.all(
    ports.map(async (port, index) => {
      for (let page_num = 1; page_num <= perApplication / 100; page_num += 1) {
        const { body } = await client.post(`http://127.0.0.1:${port}/list`, {
          json: { page_num, page_size: 100 },
        });
        const data = { application_id: `bench-${index}`, port };
        const jobs = listAnswer
          .parse(body)
          .data.list.map(({ game_id }) => ({ name: 'game', data: { ...data, game_id } }));
        await queue.addBulk(jobs);
      }
    }),
  );
  await done.promise;
  await worker.close();
  await queue.close();
  connection.disconnect();
  await sql.end();
});
