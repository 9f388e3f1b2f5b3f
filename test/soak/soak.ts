// npm run soak -- [--queue redis|postgres|both] [--rounds N] [--minutes N] [--only TEXT] [--at-once N]
// Rounds share the places of --at-once: with as many places as rounds, one long silence serves them all.
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openDatabase } from '#db/client.ts';
import { migrateDatabase } from '#db/migrate.ts';
import { startEmbeddedPostgres } from '#src/embedded/postgres.ts';
import type { Fault } from '#test/fleet/faults/fault.ts';
import { faultsOf, type QueueKind } from '#test/fleet/faults.ts';
import { landOnce } from '#test/fleet/land-once.ts';
import { survive } from '#test/fleet/one-fault.ts';
import { startProxy } from '#test/fleet/proxy.ts';
import { mayMount, openSmallDisk } from '#test/fleet/small-disk.ts';
import type { Snapshot } from '#test/fleet/snapshot.ts';
import type { Ground } from '#test/fleet/world.ts';

const { values } = parseArgs({
  options: {
    queue: { type: 'string', default: 'both' },
    rounds: { type: 'string', default: '20' },
    minutes: { type: 'string', default: '120' },
    only: { type: 'string', default: '' },
    'at-once': { type: 'string', default: '4' },
  },
});
const queues: readonly QueueKind[] = (['redis', 'postgres'] as const).filter((kind) =>
  [kind, 'both'].includes(values.queue),
);
const rounds = Number(values.rounds);
const deadline = Date.now() + Number(values.minutes) * 60_000;
const atOnce = Number(values['at-once']);

/** One fault of one kind of queue. */
type Case = { fault: Fault; tally: Tally };
type Tally = { injected: number; rows: number; calls: number; longestMs: number; failed: number };
const say = (line: string) => process.stdout.write(`${line}\n`);

const startGround = async (stack: AsyncDisposableStack): Promise<Ground> => {
  const home = await mkdtemp(join(tmpdir(), 'catalogue-soak-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  const start = () => startEmbeddedPostgres({ home, settings: { fsync: 'off', max_connections: '1000' } });
  let instance = await start();
  const { directory } = JSON.parse(await readFile(join(home, 'postgres.json'), 'utf8'));
  stack.defer(() => rm(resolve(home, directory), { recursive: true, force: true }));
  stack.defer(() => instance.stop());
  // Its port changes at each start: clients connect to a proxy whose port stays.
  const stable = stack.use(await startProxy(() => Number(new URL(instance.databaseUrl).port)));
  const adminUrl = stable.through(instance.databaseUrl);
  const name = `template_${randomBytes(4).toString('hex')}`;
  const admin = openDatabase(adminUrl, { max: 1 });
  await admin.unsafe(`create database ${name}`);
  await admin.end();
  await migrateDatabase(Object.assign(new URL(adminUrl), { pathname: name }).href);
  return {
    adminUrl,
    template: `template ${name}`,
    postgresPort: () => Number(new URL(instance.databaseUrl).port),
    restartPostgres: async () => {
      await instance.stop();
      instance = await start();
    },
    ...(mayMount() ? { openSmallDisk: () => openSmallDisk(adminUrl) } : {}),
  };
};

const chooseCases = (): Case[] => {
  const faults = queues.flatMap(faultsOf).filter(({ name }) => name.includes(values.only));
  const possible = faults.filter(({ world }) => !world?.smallDisk || mayMount());
  if (possible.length < faults.length)
    say('not injected, for only root of Linux may mount a disk: Postgres has no room left on its disk');
  return possible.map((fault) => ({
    fault,
    tally: { injected: 0, rows: 0, calls: 0, longestMs: 0, failed: 0 },
  }));
};

const main = async (): Promise<number> => {
  await using stack = new AsyncDisposableStack();
  const bare = await startGround(stack);
  const landed = stack.use(await landOnce(bare));
  const cases = chooseCases();
  const inject = (one: Case) => injectOne(one, landed.ground, landed.expected);
  const repeated = (chosen: readonly Case[]) =>
    Array.from({ length: rounds }, () => chosen)
      .flat()
      .values();
  const together = repeated(cases.filter(({ fault }) => !fault.alone));
  const lane = async (waiting: Iterable<Case>) => {
    for (const one of waiting) if (Date.now() < deadline) await inject(one);
  };
  await Promise.all(Array.from({ length: atOnce }, () => lane(together)));
  await lane(repeated(cases.filter(({ fault }) => fault.alone)));
  say('');
  say('injected  rows compared  most calls  longest s  failed  queue     fault');
  for (const { fault, tally } of cases) {
    const cells = [
      tally.injected,
      tally.rows,
      tally.calls,
      (tally.longestMs / 1_000).toFixed(1),
      tally.failed,
    ];
    const widths = [8, 13, 10, 9, 6];
    const numbers = cells.map((cell, index) => String(cell).padStart(widths[index] ?? 0)).join('  ');
    say(`${numbers}  ${fault.world?.queue?.padEnd(8)}  ${fault.name}`);
  }
  const sum = (key: keyof Tally) => cases.reduce((total, { tally }) => total + tally[key], 0);
  say(`${sum('injected')} faults injected, ${sum('rows')} rows compared, ${sum('failed')} failed`);
  return sum('failed') === 0 && sum('injected') > 0 ? 0 : 1;
};

const injectOne = async ({ fault, tally }: Case, ground: Ground, expected: Snapshot): Promise<void> => {
  tally.injected += 1;
  try {
    const { rows, calls, tookMs } = await survive(fault, ground, expected);
    tally.rows += rows;
    tally.calls = Math.max(tally.calls, calls);
    tally.longestMs = Math.max(tally.longestMs, tookMs);
    say(
      `ok    ${(tookMs / 1_000).toFixed(1).padStart(5)} s  ${fault.world?.queue?.padEnd(8)}  ${fault.name}`,
    );
  } catch (error) {
    tally.failed += 1;
    say(`FAIL  ${(error as Error).message}`);
  }
};

process.exitCode = await main();
