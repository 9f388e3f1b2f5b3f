/** A lookup that takes longer than this is not waited for: the next one may get through beside it. */
const STUCK_MS = 1_000;

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
    if (turn === undefined || performance.now() - turn.begunAt > STUCK_MS) return begin(key, look);
    const beginNext = () => begin(key, look);
    turn.next ??= turn.answer.then(beginNext, beginNext);
    return turn.next;
  };
};
