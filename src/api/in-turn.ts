/** A lookup that takes longer than this is not waited for: the next one may get through beside it. */
const STUCK_MS = 1_000;

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
 * Share lookups between callers that ask for the same key at the same time. Whoever asks while one is under way
 * gets the next one, which begins after they asked: nobody is answered from before their question.
 * @returns a function that takes the key and how it is looked up
 */
export const inTurn = <Answer>(): ((key: string, look: () => Promise<Answer>) => Promise<Answer>) => {
  type Turn = { begunAt: number; answer: Promise<Answer>; next: Promise<Answer> | null };
  const turns = new Map<string, Turn>();

  const begin = (key: string, look: () => Promise<Answer>): Promise<Answer> => {
    const turn: Turn = {
      begunAt: performance.now(),
      next: null,
      answer: look().finally(() => {
        if (turn.next === null && turns.get(key) === turn) turns.delete(key);
      }),
    };
    turns.set(key, turn);
    return turn.answer;
  };

  return (key, look) => {
    const turn = turns.get(key);
    const stuckInMs = turn === undefined ? 0 : turn.begunAt + STUCK_MS - performance.now();
    if (turn === undefined || stuckInMs <= 0) return begin(key, look);
    turn.next ??= endOf(turn.answer, stuckInMs).then(() => begin(key, look));
    return turn.next;
  };
};
