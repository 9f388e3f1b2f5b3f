// npm run soak -- [--queue redis|postgres|both] [--rounds N] [--minutes N] [--only PATTERN] [--at-once N] [--patient]
// Rounds share the places of --at-once: with as many places as rounds, one long silence serves them all.
import { parseArgs } from 'node:util';
import { type Fault, pause } from '#test/fleet/faults/fault.ts';
import { faultsOf, type QueueKind } from '#test/fleet/faults.ts';
import { landOnce } from '#test/fleet/land-once.ts';
import { survive } from '#test/fleet/one-fault.ts';
import type { Snapshot } from '#test/fleet/snapshot.ts';
import type { Ground } from '#test/fleet/world.ts';
import { startClockedGround, startGround } from '#test/soak/ground.ts';
import { mayMount } from '#test/support/tmpfs.ts';

const { values } = parseArgs({
  options: {
    queue: { type: 'string', default: 'both' },
    rounds: { type: 'string', default: '20' },
    minutes: { type: 'string', default: '120' },
    only: { type: 'string', default: '' },
    'at-once': { type: 'string', default: '4' },
    // Locks of seconds expire, and calls are repeated, where other work fills the machine.
    patient: { type: 'boolean', default: false },
  },
});
const queues: readonly QueueKind[] = (['redis', 'postgres'] as const).filter((kind) =>
  [kind, 'both'].includes(values.queue),
);
const rounds = Number(values.rounds);
const deadline = Date.now() + Number(values.minutes) * 60_000;
const atOnce = Number(values['at-once']);
/** Places begin one after another: worlds whose Redis is silent do not all wake at once. */
const STAGGER_MS = 3_000;

/** One fault of one kind of queue. */
type Case = { fault: Fault; tally: Tally };
type Tally = { injected: number; rows: number; calls: number; longestMs: number; failed: number };
const say = (line: string) => process.stdout.write(`${line}\n`);

const chooseCases = (mayMoveClock: boolean): Case[] => {
  const faults = queues.flatMap(faultsOf).filter(({ name }) => new RegExp(values.only).test(name));
  const possible = faults.filter(
    ({ world, movesClock }) => (!world?.smallDisk || mayMount()) && (!movesClock || mayMoveClock),
  );
  for (const { name } of faults.filter((fault) => !possible.includes(fault)))
    say(`not injected: ${name}. Only root of Linux mounts disks; postgresql and faketime must be installed.`);
  return possible.map((fault) => ({
    fault: values.patient ? { ...fault, world: { ...fault.world, patient: true } } : fault,
    tally: { injected: 0, rows: 0, calls: 0, longestMs: 0, failed: 0 },
  }));
};

const isAlone = ({ alone, movesClock }: Fault): boolean => alone === true || movesClock === true;

const main = async (): Promise<number> => {
  await using stack = new AsyncDisposableStack();
  const bare = await startGround(stack);
  const landed = stack.use(await landOnce(bare));
  const clockedGround = await startClockedGround(stack);
  const clocked = clockedGround && stack.use(await landOnce(clockedGround));
  const cases = chooseCases(clocked !== undefined);
  const inject = (one: Case) => {
    const { ground, expected } = one.fault.movesClock && clocked !== undefined ? clocked : landed;
    return injectOne(one, ground, expected);
  };
  const repeated = (chosen: readonly Case[]) =>
    Array.from({ length: rounds }, () => chosen)
      .flat()
      .values();
  const together = repeated(cases.filter(({ fault }) => !isAlone(fault)));
  const lane = async (waiting: Iterable<Case>) => {
    for (const one of waiting) if (Date.now() < deadline) await inject(one);
  };
  const laneAfter = async (delayMs: number) => {
    await pause(delayMs);
    await lane(together);
  };
  await Promise.all(Array.from({ length: atOnce }, (_, index) => laneAfter(index * STAGGER_MS)));
  await lane(repeated(cases.filter(({ fault }) => isAlone(fault))));
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
