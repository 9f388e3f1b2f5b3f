// npm run soak -- [--rounds N] [--minutes N] [--only TEXT] [--at-once N]
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openDatabase } from '#db/client.ts';
import { migrateDatabase } from '#db/migrate.ts';
import { startEmbeddedPostgres } from '#src/embedded/postgres.ts';
import { FAULTS, type Fault } from '#test/fleet/faults.ts';
import { survive } from '#test/fleet/one-fault.ts';
import { startProxy } from '#test/fleet/proxy.ts';
import type { Snapshot } from '#test/fleet/snapshot.ts';
import { type Ground, landOnce } from '#test/fleet/world.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    minutes: { type: 'string', default: '120' },
    only: { type: 'string', default: '' },
    'at-once': { type: 'string', default: '2' },
  },
});
const rounds = Number(values.rounds);
const deadline = Date.now() + Number(values.minutes) * 60_000;
const atOnce = Number(values['at-once']);

type Tally = { injected: number; rows: number; calls: number; longestMs: number; failed: number };
const say = (line: string) => process.stdout.write(`${line}\n`);

const startGround = async (stack: AsyncDisposableStack): Promise<Ground> => {
  const home = await mkdtemp(join(tmpdir(), 'catalogue-soak-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  const start = () => startEmbeddedPostgres({ home, settings: { fsync: 'off', max_connections: '300' } });
  let instance = await start();
  const { directory } = JSON.parse(await readFile(join(home, 'postgres.json'), 'utf8'));
  stack.defer(() => rm(resolve(home, directory), { recursive: true, force: true }));
  stack.defer(() => instance.stop());
  // Its port changes when it is started again: everybody goes by way of one that stays.
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
  };
};

const main = async (): Promise<number> => {
  await using stack = new AsyncDisposableStack();
  const bare = await startGround(stack);
  const landed = stack.use(await landOnce(bare));
  const faults = FAULTS.filter(({ name }) => name.includes(values.only));
  const tallies = new Map<string, Tally>(
    faults.map(({ name }) => [name, { injected: 0, rows: 0, calls: 0, longestMs: 0, failed: 0 }]),
  );
  const inject = (fault: Fault) => injectOne(fault, landed.ground, landed.expected, tallies);
  for (let round = 0; round < rounds && Date.now() < deadline; round += 1) {
    const queue = faults.filter((fault) => !fault.alone);
    const lane = async () => {
      for (let fault = queue.shift(); fault !== undefined && Date.now() < deadline; fault = queue.shift())
        await inject(fault);
    };
    await Promise.all(Array.from({ length: atOnce }, lane));
    for (const fault of faults.filter(({ alone }) => alone)) if (Date.now() < deadline) await inject(fault);
  }
  say('');
  say('injected  rows compared  most calls  longest s  failed  fault');
  for (const [name, tally] of tallies) {
    const cells = [
      tally.injected,
      tally.rows,
      tally.calls,
      (tally.longestMs / 1_000).toFixed(1),
      tally.failed,
    ];
    const widths = [8, 13, 10, 9, 6];
    say(`${cells.map((cell, index) => String(cell).padStart(widths[index] ?? 0)).join('  ')}  ${name}`);
  }
  const all = [...tallies.values()];
  const sum = (key: keyof Tally) => all.reduce((total, tally) => total + tally[key], 0);
  say(`${sum('injected')} faults injected, ${sum('rows')} rows compared, ${sum('failed')} failed`);
  return sum('failed') === 0 && sum('injected') > 0 ? 0 : 1;
};

const injectOne = async (
  fault: Fault,
  ground: Ground,
  expected: Snapshot,
  tallies: ReadonlyMap<string, Tally>,
): Promise<void> => {
  const tally = tallies.get(fault.name);
  if (tally === undefined) return;
  tally.injected += 1;
  try {
    const { rows, calls, tookMs } = await survive(fault, ground, expected);
    tally.rows += rows;
    tally.calls = Math.max(tally.calls, calls);
    tally.longestMs = Math.max(tally.longestMs, tookMs);
    say(`ok    ${(tookMs / 1_000).toFixed(1).padStart(5)} s  ${fault.name}`);
  } catch (error) {
    tally.failed += 1;
    say(`FAIL  ${(error as Error).message}`);
  }
};

process.exitCode = await main();
