type Waiting = { ends: Set<() => void>; listener: () => void };

const waitingFor = new WeakMap<AbortSignal, Waiting>();

const listen = (signal: AbortSignal): Waiting => {
  const ends = new Set<() => void>();
  const listener = () => {
    for (const end of ends) end();
  };
  signal.addEventListener('abort', listener);
  const waiting = { ends, listener };
  waitingFor.set(signal, waiting);
  return waiting;
};

/**
 * Calls `end` when the signal aborts. All callers share one listener of the signal. Node (26.10) keeps a removed listener
 * linked to the next one, so a listener for each caller would keep all later callers in memory until a major collection.
 * @returns stops waiting
 */
export const whenAborted = (signal: AbortSignal, end: () => void): (() => void) => {
  const { ends, listener } = waitingFor.get(signal) ?? listen(signal);
  ends.add(end);
  return () => {
    if (!ends.delete(end) || ends.size > 0) return;
    signal.removeEventListener('abort', listener);
    waitingFor.delete(signal);
  };
};
