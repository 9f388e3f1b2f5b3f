import DataLoader from 'dataloader';
import type { Database } from '#db/client.ts';
import { isConnectionLost } from '#src/api/refusal.ts';
import { coerceError } from '#src/errors.ts';

/** A lookup that takes longer than this is not waited for: the next one begins beside it. */
const SLOW_MS = 50;

/**
 * The database, and one connection to it that lookups in turn have to themselves: a server reads on one connection for
 * two thirds of what it takes by turns on twenty.
 */
export type Lanes<Source = Database> = { sql: Source; lane: Source };

/**
 * Look up together what is asked for at the same time, and the same thing once. Who asks while a lookup is under way
 * gets the next one, which begins after they asked: nobody is answered from before their question.
 * @param lanes a lookup that gets no answer in the `lane` in time, or under which its connection broke, is made again
 *   elsewhere, and whoever answers first counts; until the lane has answered no other lookup goes there
 * @param look answers in the order of what is asked, and writes nothing; if it fails, it fails for all who share it
 * @param options.keyOf who asks with the same key asks for the same
 * @param options.most how much is looked up together; for more there are several lookups beside each other
 * @param options.slowMs after how many milliseconds a lookup is not waited for
 */
export const inTurn = <Source, Asked, Answer>(
  { sql, lane }: Lanes<Source>,
  look: (from: Source, asked: readonly Asked[]) => Promise<Answer[]>,
  { keyOf, most, slowMs = SLOW_MS }: { keyOf: (asked: Asked) => string; most: number; slowMs?: number },
): ((asked: Asked) => Promise<Answer>) => {
  let laneTaken = false;

  const lookInLane = (asked: readonly Asked[]): Promise<Answer[]> => {
    let again: Promise<Answer[]> | undefined;
    const lookElsewhere = () => (again ??= look(sql, asked));
    return new Promise((resolve, reject) => {
      // If it fails elsewhere, too, the lane may still answer.
      const timer = setTimeout(() => lookElsewhere().then(resolve, () => {}), slowMs);
      laneTaken = true;
      look(lane, asked)
        .finally(() => {
          laneTaken = false;
          clearTimeout(timer);
        })
        .catch((thrown: unknown) => {
          if (!isConnectionLost(coerceError(thrown))) throw thrown;
          return lookElsewhere();
        })
        .then(resolve, reject);
    });
  };

  let turn: Promise<void> | null = null;
  const loader = new DataLoader<Asked, Answer, string>(
    (asked) => {
      // Whoever asks from here on asks anew.
      loader.clearAll();
      const answers = laneTaken ? look(sql, asked) : lookInLane(asked);
      const mine = endOf(answers, slowMs).then(() => {
        if (turn === mine) turn = null;
      });
      turn = mine;
      return answers;
    },
    {
      cacheKeyFn: keyOf,
      maxBatchSize: most,
      batchScheduleFn: (begin) => {
        // Those who come in together ask before that.
        if (turn === null) setImmediate(begin);
        else turn.then(begin);
      },
    },
  );
  return (asked) => loader.load(asked);
};

/** Resolves when this has ended one way or the other, or after so many milliseconds. */
const endOf = (work: Promise<unknown>, atMostMs: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, atMostMs);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    work.then(end, end);
  });
