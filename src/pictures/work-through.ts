/** An item whose process was killed is taken again after this time. */
export const LEASE_MS = 15 * 60_000;
/** A job takes nothing more after this time; the next one, a minute after this one began, continues. */
const WORK_MS = 50_000;

type Work<Item> = {
  /** The most items that are worked on at the same time. */
  places: number;
  /** Takes at most this many items. `isMore`: there may be more. */
  take: (places: number) => Promise<{ items: readonly Item[]; isMore: boolean }>;
  work: (item: Item) => Promise<void>;
};

/**
 * Takes items and works on them until none is left. Slow ones hold up no others, because more are taken as soon as half of
 * the places are free.
 * @throws the first error, after the items that were taken
 */
export const workThrough = async <Item>({ places, take, work }: Work<Item>): Promise<void> => {
  const running = new Set<Promise<void>>();
  const errors: unknown[] = [];
  const began = performance.now();
  let isMore = true;
  while (isMore && errors.length === 0 && performance.now() - began < WORK_MS) {
    const taken = await take(places - running.size).catch((error: unknown) => {
      errors.push(error);
      return { items: [], isMore: false };
    });
    isMore = taken.isMore;
    for (const item of taken.items) {
      const done = work(item)
        .catch((error: unknown) => void errors.push(error))
        .finally(() => running.delete(done));
      running.add(done);
    }
    while (isMore && running.size > places / 2) await Promise.race(running);
  }
  await Promise.all(running);
  if (errors.length > 0) throw errors[0];
};
