import { Redis } from 'ioredis';
import type { Database } from '#db/client.ts';

/** Everything a fleet has stored, as text: every row of every table, every key and value of its queues. */
export const everythingStored = async (fleet: {
  sql: Database;
  redisUrl: string | undefined;
  prefix: string;
}): Promise<string> => {
  const { sql, redisUrl, prefix } = fleet;
  return `${await everyRowAsText(sql)}\n${redisUrl === undefined ? '' : await everyRedisValue(redisUrl, prefix)}`;
};

const everyRowAsText = async (sql: Database): Promise<string> => {
  const tables = await sql<{ schemaname: string; tablename: string }[]>`
    select schemaname, tablename from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`;
  const contents = await Promise.all(
    tables.map(
      ({ schemaname, tablename }) =>
        sql<{ row: string }[]>`select t::text as row from ${sql(schemaname)}.${sql(tablename)} t`,
    ),
  );
  return contents.flatMap((rows) => rows.map(({ row }) => row)).join('\n');
};

/** Every key below the prefix with its value, as text. */
export const everyRedisValue = async (redisUrl: string, prefix: string): Promise<string> => {
  const redis = new Redis(redisUrl);
  const read: Record<string, (key: string) => Promise<unknown>> = {
    string: (key) => redis.get(key),
    hash: (key) => redis.hgetall(key),
    list: (key) => redis.lrange(key, 0, -1),
    set: (key) => redis.smembers(key),
    zset: (key) => redis.zrange(key, '0', '-1'),
    stream: (key) => redis.xrange(key, '-', '+'),
  };
  try {
    const keys = await redis.keys(`${prefix}*`);
    // A key may be gone since it was listed: it has no reader then.
    const values = keys.map(
      async (key) => `${key} ${JSON.stringify(await read[await redis.type(key)]?.(key))}`,
    );
    return (await Promise.all(values)).join('\n');
  } finally {
    redis.disconnect();
  }
};
