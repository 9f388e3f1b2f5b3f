/**
 * Creates a function that runs at most `max` tasks at once. A free place goes to the owner with the fewest running
 * tasks, and among equals to the one that has waited longest, so that the tasks of one owner do not delay those of others.
 */
export const shareConcurrency = (max: number) => {
  let total = 0;
  const running = new Map<string, number>();
  /** By owner, in the order in which owners are served. */
  const waiting = new Map<string, (() => void)[]>();

  const count = (owner: string, change: number): void => {
    const now = (running.get(owner) ?? 0) + change;
    total += change;
    if (now === 0) running.delete(owner);
    else running.set(owner, now);
  };

  const startNext = (): void => {
    let next: string | undefined;
    for (const owner of waiting.keys())
      if (next === undefined || (running.get(owner) ?? 0) < (running.get(next) ?? 0)) next = owner;
    if (next === undefined) return;
    const tasks = waiting.get(next) ?? [];
    const start = tasks.shift();
    waiting.delete(next);
    if (tasks.length > 0) waiting.set(next, tasks);
    count(next, 1);
    start?.();
  };

  return async <Result>(owner: string, task: () => Promise<Result>): Promise<Result> => {
    if (total < max) count(owner, 1);
    else
      await new Promise<void>((resolve) => {
        const tasks = waiting.get(owner);
        if (tasks === undefined) waiting.set(owner, [resolve]);
        else tasks.push(resolve);
      });
    try {
      return await task();
    } finally {
      count(owner, -1);
      startNext();
    }
  };
};
