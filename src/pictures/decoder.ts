import { type ChildProcessByStdio, spawn as spawnProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { CatalogueError } from '#src/errors.ts';
import { refuseIoUring } from '#src/pictures/confine.ts';
import {
  type Decoded,
  type DecodeRequest,
  type DecoderReply,
  encodeRequest,
  readReply,
} from '#src/pictures/decoder-messages.ts';
import { PICTURE_BOUNDS } from '#src/rules/pictures.ts';

export type Decoder = {
  /**
   * Decodes one picture after another. Never rejects.
   * @param spend gets the cost of the picture in milliseconds: its CPU time, or `decodeMs` for each process that it ended
   */
  decode: (request: DecodeRequest, spend?: (ms: number) => void) => Promise<Decoded>;
  /**
   * Decodes a picture of our own.
   * @returns why the system does not let the decoder confine itself; undefined if it is confined
   * @throws CatalogueError if it decodes nothing
   */
  check: () => Promise<string | undefined>;
  /** How many processes crashed or were killed for a picture. */
  lost: () => number;
  /** The process that decodes now; undefined if there is none. For tests and figures. */
  pid: () => number | undefined;
  close: () => void;
};

/** A process that has grown beyond this is replaced, because libvips and malloc keep memory. */
const RSS_MAX_BYTES = 192 * 1024 * 1024;
/**
 * A process that grows beyond this while it decodes is killed, because headers may lie about what decoding needs. Read from
 * /proc, so it applies on Linux.
 */
const DECODING_MAX_BYTES = 300 * 1024 * 1024;
const WATCH_MS = 20;
/** A decoder starts one for each core at most. The kernel keeps some 30 KB for each, which no size of the process includes. */
const THREADS_MAX = 256;

/** An idle process ends after this time. */
const IDLE_MS = 30_000;
const HEAP_MIB = 64;
/** The first answer of a process, which a busy machine starts slowly. */
const CHECK_MS = 60_000;

type DecoderProcess = ChildProcessByStdio<Writable, Readable, null>;

const PROGRAM = fileURLToPath(new URL('./decoder-process.ts', import.meta.url));

/** A PNG of one pixel. */
const SAMPLE: DecodeRequest = {
  bytes: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
  format: 'png',
};

/** Runs a program as the decoder is run, without our environment, which has the address of the database. */
export const spawnDecoder = (program = PROGRAM, args: readonly string[] = []): DecoderProcess => {
  refuseIoUring();
  return spawnProcess(process.execPath, [`--max-old-space-size=${HEAP_MIB}`, program, ...args], {
    env: { MALLOC_ARENA_MAX: '2', VIPS_CONCURRENCY: '1' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
};

/**
 * @returns 0 if the process has ended, or this is not Linux. Infinity if it has too many threads, or its main thread has ended:
 *   the others may go on, and Linux shows none of their memory
 */
const readRss = async ({ pid }: DecoderProcess): Promise<number> => {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => undefined);
  if (text === undefined) return 0;
  const read = (field: string): string | undefined => new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(text)?.[1];
  // Not of /proc/PID/stat, whose size of a new process is 0. Without a main thread there is none.
  const kib = read('VmRSS');
  return kib === undefined || Number(read('Threads')) > THREADS_MAX
    ? Number.POSITIVE_INFINITY
    : Number(kib) * 1024;
};

/** Kills a process that needs too much memory, also between two pictures. */
const watchMemory = (child: DecoderProcess): void => {
  const watch = setInterval(async () => {
    if ((await readRss(child)) > DECODING_MAX_BYTES) child.kill('SIGKILL');
  }, WATCH_MS).unref();
  // `close`, because `exit` is not emitted for a process that did not start.
  child.once('close', () => clearInterval(watch));
};

/** @returns the reply to one request; undefined if the process ended, or did not reply in time, or replied anything else */
const exchange = async (
  child: DecoderProcess,
  request: DecodeRequest,
  withinMs: number,
): Promise<DecoderReply | undefined> => {
  const over = new AbortController();
  const onEnd = () => over.abort();
  const deadline = setTimeout(onEnd, withinMs);
  child.once('exit', onEnd).once('error', onEnd);
  child.stdin.write(encodeRequest(request));
  child.stdin.write(request.bytes);
  try {
    return await readReply(child.stdout, over.signal);
  } catch {
    return undefined;
  } finally {
    clearTimeout(deadline);
    child.off('exit', onEnd).off('error', onEnd);
  }
};

/**
 * Decodes pictures in one other process, which starts with the first picture. The process ends with a picture that
 * crashes it or takes longer than `decodeMs`. If it had decoded others before, a new process decodes that picture once more.
 */
export const createDecoder = ({
  decodeMs = PICTURE_BOUNDS.decodeMs,
  spawn = () => spawnDecoder(),
}: {
  decodeMs?: number;
  spawn?: () => DecoderProcess;
} = {}): Decoder => {
  let child: DecoderProcess | undefined;
  let idle: NodeJS.Timeout | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  let lost = 0;
  let closed = false;

  const end = (): void => {
    child?.kill('SIGKILL');
    child = undefined;
  };

  const start = (): DecoderProcess => {
    const started = spawn();
    // A process that ends between two pictures fails neither of them.
    started.once('exit', () => {
      if (child === started) child = undefined;
    });
    // Errors of a process that is being killed have no consequence.
    for (const each of [started, started.stdin, started.stdout]) each.on('error', () => {});
    watchMemory(started);
    return started;
  };

  const decodeNow = async (
    request: DecodeRequest,
    withinMs = decodeMs,
  ): Promise<DecoderReply | undefined> => {
    if (closed) return undefined;
    clearTimeout(idle);
    const isUsed = child !== undefined;
    child ??= start();
    const current = child;
    // No picture is to blame for a process that a busy machine starts slowly.
    const isReady = isUsed || request === SAMPLE || (await exchange(current, SAMPLE, CHECK_MS)) !== undefined;
    const reply = isReady ? await exchange(current, request, withinMs) : undefined;
    if (reply === undefined) {
      if (!closed) lost += 1;
      if (child === current) end();
      // A process keeps memory of earlier pictures, so its end says nothing of this picture, which a new process decodes
      // once more.
      return isUsed ? decodeNow(request) : undefined;
    }
    if ((await readRss(current)) > RSS_MAX_BYTES) end();
    idle = setTimeout(end, IDLE_MS).unref();
    return reply;
  };

  /** @returns the reply, and what the picture has cost */
  const request = (picture: DecodeRequest, withinMs?: number) => {
    const result = turn
      .then(async () => {
        const before = lost;
        const reply = await decodeNow(picture, withinMs);
        return { reply, ms: reply?.ms ?? decodeMs * (lost - before) };
      })
      // A process that does not start, as when no descriptor is free, costs one picture; the next picture starts another.
      .catch(() => ({ reply: undefined, ms: decodeMs }));
    turn = result;
    return result;
  };

  return {
    decode: async (picture, spend) => {
      const { reply, ms } = await request(picture);
      spend?.(ms);
      return reply?.decoded ?? { outcome: 'undecodable' };
    },
    check: async () => {
      const { reply } = await request(SAMPLE, CHECK_MS);
      if (reply?.decoded.outcome === 'shown') return reply.unconfined;
      throw new CatalogueError(
        'The process that decodes pictures decodes none: is the package sharp complete?',
      );
    },
    lost: () => lost,
    pid: () => child?.pid,
    close: () => {
      closed = true;
      clearTimeout(idle);
      end();
    },
  };
};

/**
 * Decodes a picture of our own, and reads whether the decoder is confined.
 * @throws CatalogueError if it is not, unless this is the embedded mode, which is for trying things out; or if it decodes
 *   nothing
 */
export const requireConfined = async (
  decoder: Decoder,
  { isEmbedded, logger }: { isEmbedded: boolean; logger: Logger },
): Promise<void> => {
  const why = await decoder.check();
  if (why === undefined) return;
  const risk = `The process that decodes pictures is not confined, because ${why}: a flaw of a decoder would reach the files, the network and the other processes of this user.`;
  if (!isEmbedded)
    throw new CatalogueError(`${risk} Run it on Linux (x64 or arm64), where seccomp is allowed.`);
  logger.warn(risk);
};
