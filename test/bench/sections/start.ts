import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { median, type Row } from '#test/bench/report.ts';
import type { Servers } from '#test/bench/servers.ts';

const CATALOGUE = fileURLToPath(new URL('../../../src/cli/catalogue.ts', import.meta.url));
/** Says on stderr, as the process ends, what it took at its peak. */
const SAY_PEAK = `data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => process.stderr.write('\\npeak ' + process.resourceUsage().maxRSS + '\\n'))",
)}`;

type Started = { ms: number; maxRssMb: number };

/** Runs a command until its first line of output, then ends it. */
const start = async (args: readonly string[], env: Record<string, string>): Promise<Started> => {
  const from = performance.now();
  const child = spawn(process.execPath, ['--import', SAY_PEAK, CATALOGUE, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const ended = once(child, 'close');
  await Promise.race([once(child.stdout, 'data'), ended]);
  const ms = performance.now() - from;
  child.stdout.resume();
  // Asked for help, it ends by itself.
  if (args[0] !== '--help') child.kill('SIGTERM');
  await ended;
  const peakKb = Number(/peak (\d+)/.exec(said)?.[1]);
  if (Number.isNaN(peakKb)) throw new Error(`catalogue ${args.join(' ')} did not start: ${said}`);
  return { ms, maxRssMb: peakKb / 1024 };
};

/** From the shell's start of a command to its first word. */
export const measureStart = async (servers: Servers, rounds: number): Promise<Row[]> => {
  await using database = await servers.createDatabase();
  const env = {
    DATABASE_URL: database.databaseUrl,
    REDIS_URL: servers.redisUrl,
    ENCRYPTION_KEYS: servers.encryptionKeys,
    CATALOGUE_HOME: servers.home,
    METRICS_PORT: '0',
    LOG_LEVEL: 'silent',
  };
  const commands: Record<string, string[]> = {
    'catalogue --help': ['--help'],
    'catalogue worker, ready': ['worker', '--json'],
  };
  const rows: Row[] = [];
  for (const [figure, args] of Object.entries(commands)) {
    const runs: Started[] = [];
    for (let round = 0; round < rounds; round += 1) runs.push(await start(args, env));
    const section = 'start';
    rows.push({ section, figure, value: median(runs.map((run) => run.ms)), unit: 'ms' });
    rows.push({ section, figure, value: median(runs.map((run) => run.maxRssMb)), unit: 'MB at its peak' });
  }
  return rows;
};
