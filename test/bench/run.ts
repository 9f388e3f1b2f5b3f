// `npm run bench`: everything side by side in one run, on a Postgres and a Redis of its own, with the
// applications' servers in processes of their own. `--quick` takes smaller numbers and says so, `--only NAME`
// one section, `--stock 30000000` grows to as many games, `--out FILE` writes the JSON elsewhere.
import { parseArgs } from 'node:util';
import { machine, type Row, tableOf, writeReport } from '#test/bench/report.ts';
import { measureCalls } from '#test/bench/sections/call.ts';
import { compareIngest } from '#test/bench/sections/compare.ts';
import { measureGrowth } from '#test/bench/sections/growth.ts';
import { measureIdle } from '#test/bench/sections/idle.ts';
import { measureLatency } from '#test/bench/sections/latency.ts';
import { measureMemory } from '#test/bench/sections/memory.ts';
import { measurePlatform } from '#test/bench/sections/platform.ts';
import { measureSealing } from '#test/bench/sections/sealing.ts';
import { measureStart } from '#test/bench/sections/start.ts';
import { measureUnchanged } from '#test/bench/sections/unchanged.ts';
import { startServers } from '#test/bench/servers.ts';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    stock: { type: 'string' },
    out: { type: 'string', default: '.catalogue/bench.json' },
  },
});

const FULL = {
  games: 20_000,
  rounds: 5,
  memory: 1_000_000,
  base: 1_000_000,
  stock: 10_000_000,
  starts: 9,
  sealed: 20_000,
  idle: 2_000,
};
const QUICK = {
  games: 10_000,
  rounds: 3,
  memory: 30_000,
  base: 20_000,
  stock: 200_000,
  starts: 3,
  sealed: 5_000,
  idle: 1_000,
};
const size = options.quick ? QUICK : FULL;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

await using servers = await startServers();
// Processes of ours end when this one goes; the servers are ended by us.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await servers[Symbol.asyncDispose]();
    process.exit(1);
  });
}

const sections: Record<string, () => Promise<Row[]>> = {
  call: () => measureCalls(size.games / 4, size.rounds),
  ingest: () => compareIngest(servers, size.games, size.rounds),
  idle: () => measureIdle(servers, size.idle, size.rounds),
  unchanged: () => measureUnchanged(servers, size.games),
  latency: () => measureLatency(servers),
  memory: () => measureMemory(servers, 10_000, size.memory),
  growth: () => measureGrowth(servers, { ...size, stock: Number(options.stock ?? size.stock) }),
  start: () => measureStart(servers, size.starts),
  sealing: () => measureSealing(size.sealed),
  api: () => measurePlatform(size.stock / 10),
};
const unknown = options.only?.find((name) => !Object.hasOwn(sections, name));
if (unknown !== undefined)
  throw new Error(`no section ${unknown}: there are ${Object.keys(sections).join(', ')}`);

const { cpu, cores, memoryGb, node } = machine();
say(
  `${cpu}, ${cores} cores, ${memoryGb} GB, Node ${node}${options.quick ? '; --quick: smaller numbers than a full run' : ''}`,
);
const rows: Row[] = [];
for (const [name, measure] of Object.entries(sections)) {
  if (options.only !== undefined && !options.only.includes(name)) continue;
  const measured = await measure();
  rows.push(...measured);
  say(tableOf(measured));
}
await writeReport(options.out, options.quick, rows);
say(`Written to ${options.out}`);
