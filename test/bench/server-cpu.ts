import { readdir, readFile } from 'node:fs/promises';
import { Redis } from 'ioredis';
import type { Database } from '#db/client.ts';
import { onlyValue } from '#db/rows.ts';

/** `CLK_TCK` of Linux on every architecture that Node runs on. */
const TICK_US = 10_000;

/** A process by `/proc/PID/stat`: its parent, its CPU time, and the CPU time of its children that have ended. */
const readStat = async (
  pid: string,
): Promise<{ ppid: string; cpuUs: number; endedUs: number } | undefined> => {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  if (text === undefined) return undefined;
  // The name of the process is in parentheses and may have spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const at = (place: number): number => Number(fields[place]) * TICK_US;
  return { ppid: fields[1] ?? '', cpuUs: at(11) + at(12), endedUs: at(13) + at(14) };
};

/** CPU time of Postgres, with every process that it has or had, and of Redis, in µs. Linux only. */
export const cpuOfServers = async (
  { redisUrl }: { redisUrl: string },
  sql: Database,
): Promise<{ postgres: number; redis: number }> => {
  const backend = await onlyValue(sql<{ pid: number }[]>`select pg_backend_pid() as pid`);
  const postmaster = (await readStat(String(backend)))?.ppid ?? '';
  const main = await readStat(postmaster);
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map(readStat));
  const children = stats.filter((stat) => stat?.ppid === postmaster);
  const postgres = children.reduce(
    (sum, stat) => sum + (stat?.cpuUs ?? 0),
    (main?.cpuUs ?? 0) + (main?.endedUs ?? 0),
  );
  const redis = new Redis(redisUrl);
  const info = await redis.info('cpu');
  redis.disconnect();
  const seconds = [...info.matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm)].map(([, value]) => Number(value));
  return { postgres, redis: seconds.reduce((sum, value) => sum + value, 0) * 1e6 };
};
