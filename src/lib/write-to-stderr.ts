import { write, writeSync } from 'node:fs';

const STDERR = 2;
/** Characters of lines that wait for a slow reader. Later lines are lost. */
const WAITING_MAX = 1_048_576;
/** The delay before the next write to a full pipe. */
const RETRY_MS = 100;
/** At exit, the time for a write that has begun to end. Another thread makes it. */
const LAST_WRITE_MS = 20;

let waiting = '';
let writing = Buffer.alloc(0);
let isIdle = true;

const writeNext = (): void => {
  if (writing.length === 0) {
    writing = Buffer.from(waiting);
    waiting = '';
  }
  isIdle = writing.length === 0;
  if (isIdle) return;
  write(STDERR, writing, (error, written) => {
    if (error?.code === 'EAGAIN') return void setTimeout(writeNext, RETRY_MS).unref();
    writing = error ? Buffer.alloc(0) : writing.subarray(written);
    writeNext();
  });
};

process.once('exit', () => {
  if (waiting === '') return;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_WRITE_MS);
  try {
    writeSync(STDERR, waiting);
  } catch {
    // The text is lost, as `writeToStderr` says.
  }
});

/**
 * Writes to stderr without waiting for a reader. Text that cannot be written, as to a full disk, is lost. SonicBoom, the
 * default of pino, is not used, because it throws such an error where no code catches it, and at exit it retries for ever.
 */
export const writeToStderr = (text: string): void => {
  if (waiting.length < WAITING_MAX) waiting += text;
  if (isIdle) writeNext();
};
