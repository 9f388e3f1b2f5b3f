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
  /** Resolves when the process has memory for the answer; rejects when the signal aborts. */
  admit: (signal: AbortSignal) => Promise<void>;
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
 * Bounds the bytes of answers that this process reads and has not written. Answers of ordinary size never wait; a large
 * one waits until there is room, and its application may not have more than one page's worth of them at once.
 */
export const createAnswerMemory = (limits: typeof MEMORY = MEMORY): AnswerMemory => {
  let unwritten = 0;
  let reading = 0;
  const readingBy = new Map<string, number>();
  let queue: Waiting[] = [];

  const hasRoom = (bytes: number): boolean =>
    reading + bytes <= limits.readingBytes && unwritten <= limits.unwrittenBytes;

  /** Admits in the order of arrival. An application at its own limit lets others pass. */
  const admitWaiting = (): void => {
    const left: Waiting[] = [];
    for (const waiting of queue) {
      const { applicationId, bytes, enter } = waiting;
      const own = readingBy.get(applicationId) ?? 0;
      if (hasRoom(bytes) && own + bytes <= limits.readingBytesOfOne) {
        reading += bytes;
        readingBy.set(applicationId, own + bytes);
        enter();
      } else left.push(waiting);
    }
    queue = left;
  };

  const createAdmission: AnswerMemory['createAdmission'] = (applicationId, bytes) => {
    let isAdmitted = false;
    return {
      admit: async (signal) => {
        if (isAdmitted) return;
        signal.throwIfAborted();
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        const waiting: Waiting = {
          applicationId,
          bytes,
          enter: () => {
            isAdmitted = true;
            resolve();
          },
        };
        const leave = () => {
          queue = queue.filter((other) => other !== waiting);
          reject(signal.reason);
        };
        signal.addEventListener('abort', leave, { once: true });
        queue.push(waiting);
        admitWaiting();
        await promise.finally(() => signal.removeEventListener('abort', leave));
      },
      release: () => {
        if (!isAdmitted) return;
        isAdmitted = false;
        reading -= bytes;
        const own = (readingBy.get(applicationId) ?? 0) - bytes;
        if (own > 0) readingBy.set(applicationId, own);
        else readingBy.delete(applicationId);
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
