// Prints how many bytes of the heap a turn of a chore keeps: `node --expose-gc test/support/chore-memory.ts`.
import { pino } from 'pino';
import { repeatUntilAborted } from '#src/processes/repeat.ts';

/** Before the first measure, so that compilation is over. */
const WARM_UP = 1_000;
const MEASURED = 5_000;

const readHeap = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
};

const aborter = new AbortController();
let turns = 0;
let before = 0;
let after = 0;
const chore = async (): Promise<void> => {
  turns += 1;
  if (turns === WARM_UP) before = readHeap();
  if (turns < WARM_UP + MEASURED) return;
  // Before the end, which lets go of what the turns kept.
  after = readHeap();
  aborter.abort();
};
await repeatUntilAborted(0, aborter.signal, pino({ level: 'silent' }), 'chore', chore).ended;
process.stdout.write(String(Math.round((after - before) / MEASURED)));
