import type { Operation } from '#src/contract/words.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Bounds on what one call may take from us (design, section 6). */
export const CONNECT_TIMEOUT_MS = 5_000;
export const CALL_TIMEOUT_MS = 15_000;

/** Bytes of an answer after decompression; the stream is cut at the cap. */
export const MAX_BODY_BYTES: Record<Operation, number> = {
  query_game_list: 4 * MIB,
  query_game_detail: 1 * MIB,
  query_cp_kyc: 256 * KIB,
};

/** JSON nesting we read: the deepest the document needs is four (envelope, data, list, element). */
export const MAX_JSON_DEPTH = 32;

/** `ret_msg` is kept this long (decision 14). */
export const RET_MSG_MAX = 200;

/** A Retry-After is believed up to here: after a longer one it is asked again then. */
export const RETRY_AFTER_MAX_MS = 15 * 60_000;
