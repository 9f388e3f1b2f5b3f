// Every budget of one application, and of one process for all of them, except the lengths of fields (src/contract).

import type { Operation } from '#src/contract/words.ts';
import { DAY_MS } from '#src/lib/duration.ts';

/** Counters of failures and attempts stop here, because a stolen login may set one to the end of its type, where adding 1 fails. */
export const COUNTED_MAX = 1_000_000_000;

const KIB = 1024;
const MIB = 1024 * KIB;

/** Look-up, connection and TLS handshake of one call together. */
export const CONNECT_TIMEOUT_MS = 5_000;
/** One whole call, a trickling body included. */
export const CALL_TIMEOUT_MS = 15_000;

/** Bytes of a response body, before and after decompression. The stream is cut at the cap. */
export const MAX_BODY_BYTES: Record<Operation, number> = {
  query_game_list: 4 * MIB,
  query_game_detail: 1 * MIB,
  query_cp_kyc: 256 * KIB,
};

/** What a response may have around its body. */
export const WIRE = {
  /** Most bytes received for one call: twice the largest body, for headers and framing. */
  bytes: 8 * MIB,
  /** Most bytes received for one event. The response is not used, and no pace delays the next event. */
  eventBytes: 128 * KIB,
  /** Interim (1xx) responses before the response itself. */
  interimResponses: 16,
  /** TLS session tickets. A server sends two when a connection begins. */
  sessionTickets: 16,
  /** Work of the event loop on one piece of a body. A body of 1 MiB in pieces of one byte takes 0.4 s. */
  pieceMs: 0.0004,
  /**
   * Work of the event loop on a TLS handshake that fails. OpenSSL reads up to 100 KB of certificates in one turn. 44 of
   * them, with names and constraints of names, took 0.27 s.
   */
  handshakeMs: 300,
};

/**
 * Look-ups of names that run at once. libuv has 64 threads for them (src/cli/kit/thread-pool-size.ts); eight are left for
 * Postgres, Redis and the key service.
 */
export const LOOKUPS = {
  ordinary: 40,
  /** The places for names whose last look-up took at least `slowMs`. */
  slow: 16,
  slowMs: 2_000,
};

/** Levels of JSON nesting. A response needs four: envelope, data, list, element. */
export const MAX_JSON_DEPTH = 32;

/**
 * Keys and values of a response. A hundred list rows with a hundred fields each have 20,000; at ten times as many,
 * JSON.parse alone blocks the event loop for 0.1 s.
 */
export const MAX_JSON_VALUES = 100_000;

/**
 * Work on responses that one turn of the event loop may do, in milliseconds. One step of it may take longer: at most
 * the parsing of 4 MiB, or the validation of one detail (0.1 s).
 */
export const EVENT_LOOP_TURN_MS = 20;

/**
 * Bytes of answers that one process keeps in memory. A worker of 512 MiB is built on these: text takes up to twice its
 * bytes, and an answer is in memory compressed and decompressed while it is read.
 */
export const MEMORY = {
  /** Up to this size an answer neither waits for memory nor counts for the pace of bytes. */
  ordinaryBytes: 64 * KIB,
  /** Caps of the large answers that are read at once: by the process, and from one application. */
  readingBytes: 32 * MIB,
  readingBytesOfOne: 4 * MIB,
  /** The part of `readingBytes` for slow applications: a large answer took at least `slowMs` within the last `slowForMs`. */
  readingBytesOfSlow: 16 * MIB,
  slowMs: 2_000,
  slowForMs: 30 * 60_000,
  /** Answers that are read and not written: by the process, and of one job. No further call begins above them. */
  unwrittenBytes: 32 * MIB,
  unwrittenBytesOfOne: 2 * MIB,
};

/** What large and slow responses may cost a process: those of one application, and all of them together. */
export const PACE = {
  /** Bytes a second: those that arrived, or those of the body after decompression if they are more. */
  bytesOfOne: 2 * MIB,
  bytes: 8 * MIB,
  /** A response that takes the event loop this long is ordinary. A page of 100 rows takes 1 ms. */
  ordinaryMs: 5,
  /** Parts of the event loop's time. */
  shareOfOne: 0.05,
  share: 0.15,
  /** Free work of an application, so that scheduling delays of this process are not charged to it. */
  creditMs: 50,
  /** No call waits longer than this for the responses before it. */
  maxWaitMs: 60_000,
};

/** What writing one row of a page costs, in milliseconds of the event loop. An ordinary page has 100 rows. */
export const ROW_MS = 0.02;

/** Characters of `ret_msg` that are kept. */
export const RET_MSG_MAX = 200;

/** What one application may make the platform store and do. */
export const STORAGE = {
  /** Content of new and changed games that its runs of 24 hours may write. A game counts at least `bytesOfGame`. */
  bytesPerDay: 2 * 1024 * MIB,
  bytesOfGame: KIB,
  /** A withdrawal: the game's absence, and the events of its withdrawal and return. */
  bytesOfWithdrawal: 4 * KIB,
  /** Games of an application, withdrawn ones too: more than one listing can name. Further ones are not stored. */
  games: 5_000_000,
  /** Ids that one listing may name. A row counts at least `bytesOfRow`. This is enough for 2,600,000 games with ids of 36 characters. */
  listedBytes: 256 * MIB,
  bytesOfRow: 64,
  /** Pages of one listing. */
  pages: 20_000,
  /** Duration of one run. */
  runMs: DAY_MS,
  /** Failures kept for each operation. Further ones are counted by their run only. */
  failures: 10_000,
  /** Revisions of a game that are kept besides those that a decision names. */
  revisions: 50,
};
