import DataLoader from 'dataloader';
import type { Database } from '#db/client.ts';
import { coerceError } from '#src/errors.ts';
import { isUnavailable } from './refusal.ts';

/** A lookup that takes longer than this is not waited for: the next one begins beside it. */
const SLOW_MS = 50;

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

/**
 * The database, and one connection to it that lookups in turn have to themselves: a server reads on one connection for
 * two thirds of what it takes by turns on twenty.
 */
export type Lanes<Source = Database> = { sql: Source; lane: Source };

/**
 * Look up together what is asked for at the same time, and the same thing once. Who asks while a lookup is under way
 * gets the next one, which begins after they asked: nobody is answered from before their question.
 * @param lanes a lookup that begins while an earlier one has not ended does not wait behind it in the `lane`; one that
 *   the connection broke under is made again elsewhere
 * @param look answers in the order of what is asked; if it fails, it fails for all who share it
 * @param options.keyOf who asks with the same key asks for the same
 * @param options.most how much is looked up together; for more there are several lookups beside each other
 */
export const inTurn = <Source, Asked, Answer>(
  { sql, lane }: Lanes<Source>,
  look: (from: Source, asked: readonly Asked[]) => Promise<Answer[]>,
  { keyOf, most }: { keyOf: (asked: Asked) => string; most: number },
): ((asked: Asked) => Promise<Answer>) => {
  const lookAgain = (asked: readonly Asked[]) => (thrown: unknown) => {
    if (!isUnavailable(coerceError(thrown))) throw thrown;
    return look(sql, asked);
  };
  let running = 0;
  let underWay: Promise<void> | null = null;
  const loader = new DataLoader<Asked, Answer, string>(
    (asked) => {
      // Whoever asks from here on asks anew.
      loader.clearAll();
      const found = running > 0 ? look(sql, asked) : look(lane, asked).catch(lookAgain(asked));
      const answers = found.finally(() => {
        running -= 1;
      });
      running += 1;
      const turn = endOf(answers, SLOW_MS).then(() => {
        if (underWay === turn) underWay = null;
      });
      underWay = turn;
      return answers;
    },
    {
      cacheKeyFn: keyOf,
      maxBatchSize: most,
      batchScheduleFn: (begin) => {
        // Those who come in together ask before that.
        if (underWay === null) setImmediate(begin);
        else underWay.then(begin);
      },
    },
  );
  return (asked) => loader.load(asked);
};
