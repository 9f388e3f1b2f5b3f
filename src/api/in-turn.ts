/**
 * Share a lookup between callers that ask for the same key at the same time. Whoever asks while one is under way
 * gets the next one, which begins after they asked: nobody is answered from before their question.
 */
export const inTurn = <Answer>(
  look: (key: string) => Promise<Answer>,
): ((key: string) => Promise<Answer>) => {
  type Turn = { answer: Promise<Answer>; next: Promise<Answer> | null };
  const turns = new Map<string, Turn>();

  const begin = (key: string): Promise<Answer> => {
    const turn: Turn = {
      next: null,
      answer: look(key).finally(() => {
        if (turn.next === null) turns.delete(key);
      }),
    };
    turns.set(key, turn);
    return turn.answer;
  };

  return (key) => {
    const turn = turns.get(key);
    if (turn === undefined) return begin(key);
    const beginNext = () => begin(key);
    turn.next ??= turn.answer.then(beginNext, beginNext);
    return turn.next;
  };
};
