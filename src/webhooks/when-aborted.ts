type Waiting = { ends: Set<() => void>; listener: () => void };

const waitingFor = new WeakMap<AbortSignal, Waiting>();

/**
 * Do `end` when the signal aborts. Calls under way together share one listener: adding and removing one for each
 * costs more than all else that ends a call.
 * @returns how to wait no longer
 */
export const whenAborted = (signal: AbortSignal, end: () => void): (() => void) => {
  const { ends, listener } = waitingFor.get(signal) ?? listenTo(signal);
  ends.add(end);
  return () => {
    if (!ends.delete(end) || ends.size > 0) return;
    signal.removeEventListener('abort', listener);
    waitingFor.delete(signal);
  };
};

const listenTo = (signal: AbortSignal): Waiting => {
  const ends = new Set<() => void>();
  const listener = () => {
    for (const end of ends) end();
  };
  signal.addEventListener('abort', listener);
  const waiting = { ends, listener };
  waitingFor.set(signal, waiting);
  return waiting;
};
