import { aborted } from '#src/egress/errors.ts';
import { MEMORY } from '#src/rules/budgets.ts';

/** Answers that one job has read and not written yet. Disposing it forgets them. */
export type UnwrittenAnswers = Disposable & {
  /** Counts an answer of this many bytes as unwritten. */
  add: (bytes: number) => void;
  /** Counts this many bytes as written. */
  remove: (bytes: number) => void;
  isFull: () => boolean;
  /** Resolves when the next call may begin: at once, unless too much is unwritten. */
  room: () => Promise<void>;
  /** Resolves when the job must write before it may call again. */
  filled: () => Promise<void>;
};

/** Leave to read an answer that is larger than `MEMORY.ordinaryBytes`. */
export type Admission = {
  /** Resolves when the process has memory for the answer; rejects when the signal aborts, or at `release`. */
  admit: (signal: AbortSignal) => Promise<void>;
  /** Gives the memory back, or the place in the queue. */
  release: () => void;
};

/** The memory that answers may take in this process. One per process. */
export type AnswerMemory = {
  track: () => UnwrittenAnswers;
  /** @param bytes what the answer may take: the cap of its operation */
  createAdmission: (applicationId: string, bytes: number) => Admission;
};

type Waiting = { applicationId: string; bytes: number; enter: () => void };

/**
 * Bounds the bytes of answers that this process reads and has not written. Answers of ordinary size never wait. A large
 * answer waits until memory is free, and one application holds at most one page's worth of large answers. Applications
 * that send large answers slowly share a smaller part of the memory, so that they cannot take all of it.
 */
export const createAnswerMemory = (limits: typeof MEMORY = MEMORY): AnswerMemory => {
  let unwritten = 0;
  let reading = 0;
  let readingOfSlow = 0;
  const readingBy = new Map<string, number>();
  /** Until when an application is slow, in milliseconds of the monotonic clock. */
  const slowUntil = new Map<string, number>();
  let queue: Waiting[] = [];

  const isSlow = (applicationId: string): boolean => {
    const until = slowUntil.get(applicationId);
    if (until === undefined) return false;
    if (until > performance.now()) return true;
    slowUntil.delete(applicationId);
    return false;
  };

  const isWithinOwn = ({ applicationId, bytes }: Waiting): boolean =>
    (readingBy.get(applicationId) ?? 0) + bytes <= limits.readingBytesOfOne &&
    (!isSlow(applicationId) || readingOfSlow + bytes <= limits.readingBytesOfSlow);

  /**
   * Admits in the order of arrival. An application at its own limit lets others pass. An answer that waits for the memory
   * of the process does not, because smaller ones would take it for ever.
   */
  const admitWaiting = (): void => {
    const left: Waiting[] = [];
    let isFull = unwritten > limits.unwrittenBytes;
    for (const waiting of queue) {
      const isNext = isWithinOwn(waiting);
      if (isNext && reading + waiting.bytes > limits.readingBytes) isFull = true;
      if (isNext && !isFull) waiting.enter();
      else left.push(waiting);
    }
    queue = left;
  };

  const createAdmission: AnswerMemory['createAdmission'] = (applicationId, bytes) => {
    let admitted: { at: number; asSlow: boolean } | undefined;
    let leave = (): void => {};
    const count = (sign: 1 | -1, asSlow: boolean): void => {
      reading += sign * bytes;
      if (asSlow) readingOfSlow += sign * bytes;
      const own = (readingBy.get(applicationId) ?? 0) + sign * bytes;
      if (own > 0) readingBy.set(applicationId, own);
      else readingBy.delete(applicationId);
    };
    return {
      admit: async (signal) => {
        if (admitted !== undefined) return;
        signal.throwIfAborted();
        // One wait at a time.
        leave();
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        const waiting: Waiting = {
          applicationId,
          bytes,
          enter: () => {
            admitted = { at: performance.now(), asSlow: isSlow(applicationId) };
            count(1, admitted.asSlow);
            resolve();
          },
        };
        leave = () => {
          queue = queue.filter((other) => other !== waiting);
          reject(signal.aborted ? signal.reason : aborted());
          admitWaiting();
        };
        const onAbort = leave;
        signal.addEventListener('abort', onAbort, { once: true });
        queue.push(waiting);
        admitWaiting();
        await promise.finally(() => signal.removeEventListener('abort', onAbort));
      },
      release: () => {
        leave();
        if (admitted === undefined) return;
        const { at, asSlow } = admitted;
        admitted = undefined;
        count(-1, asSlow);
        const now = performance.now();
        if (now - at >= limits.slowMs) slowUntil.set(applicationId, now + limits.slowForMs);
        admitWaiting();
      },
    };
  };

  const track = (): UnwrittenAnswers => {
    let own = 0;
    let changed = Promise.withResolvers<void>();
    let filled = Promise.withResolvers<void>();
    const isFull = () => own >= limits.unwrittenBytesOfOne;
    const mayCall = () => own === 0 || (!isFull() && unwritten < limits.unwrittenBytes);
    const remove = (bytes: number): void => {
      own -= bytes;
      unwritten -= bytes;
      if (!isFull()) filled = Promise.withResolvers<void>();
      changed.resolve();
      changed = Promise.withResolvers<void>();
      admitWaiting();
    };
    return {
      add: (bytes) => {
        own += bytes;
        unwritten += bytes;
        if (isFull()) filled.resolve();
      },
      remove,
      isFull,
      room: async () => {
        while (!mayCall()) await changed.promise;
      },
      filled: () => filled.promise,
      [Symbol.dispose]: () => remove(own),
    };
  };

  return { track, createAdmission };
};
