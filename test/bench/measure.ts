import { say } from '#test/bench/api-database.ts';

const ROUNDS = 200;
const WARM_UP = 10;

/** The head of the table that `measure` prints. */
export const MEASURE_HEAD = `${''.padEnd(52)} ${'median'.padStart(8)} ${'p95'.padStart(8)}`;

/** Prints how long `work` takes, in milliseconds: the median and the 95th percentile, after a few calls to warm up. */
export const measure = (
  what: string,
  work: (round: number) => Promise<unknown>,
  rounds = ROUNDS,
): Promise<void> =>
  measureTimes(
    what,
    async (round) => {
      const from = performance.now();
      await work(round);
      return performance.now() - from;
    },
    rounds,
  );

/** The same for work that measures itself. @param work resolves to the milliseconds that it took */
export const measureTimes = async (
  what: string,
  work: (round: number) => Promise<number>,
  rounds = ROUNDS,
): Promise<void> => {
  for (let round = 0; round < WARM_UP; round += 1) await work(round);
  const times: number[] = [];
  for (let round = WARM_UP; round < rounds + WARM_UP; round += 1) times.push(await work(round));
  times.sort((a, b) => a - b);
  const at = (share: number): string => (times[Math.floor(rounds * share)] ?? Number.NaN).toFixed(2);
  say(`${what.padEnd(52)} ${at(0.5).padStart(8)} ${at(0.95).padStart(8)} ms`);
};
