import { Redis } from 'ioredis';
import type { Database } from '#db/client.ts';

/** Everything a fleet has stored, as text: every row of every table, every key and value of its queues. */
export const everythingStored = async (fleet: {
  sql: Database;
  redisUrl: string | undefined;
  prefix: string;
}): Promise<string> => {
  const { sql, redisUrl, prefix } = fleet;
  const rows = Object.values(await everyRow(sql))
    .flat()
    .join('\n');
  return `${rows}\n${redisUrl === undefined ? '' : await everyRedisValue(redisUrl, prefix)}`;
};

/** Every row of every table as text, by table: bytea in hex, whole JSON documents. Equal results: nothing was written. */
export const everyRow = async (sql: Database): Promise<Record<string, string[]>> => {
  const tables = await sql<{ schema: string; name: string }[]>`
    select schemaname as schema, tablename as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema') order by 1, 2`;
  const contents: Record<string, string[]> = {};
  for (const { schema, name } of tables) {
    const rows = await sql<
      { row: string }[]
    >`select t::text as row from ${sql(schema)}.${sql(name)} t order by 1`;
    contents[schema === 'public' ? name : `${schema}.${name}`] = rows.map(({ row }) => row);
  }
  return contents;
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
