import type { Operation } from '#src/contract/words.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Look-up, connection and TLS handshake of one call together (design, section 6). */
export const CONNECT_TIMEOUT_MS = 5_000;
/** One whole call, a trickling body included. */
export const CALL_TIMEOUT_MS = 15_000;

/** Bytes of a response body, before and after decompression. The stream is cut at the cap. */
export const MAX_BODY_BYTES: Record<Operation, number> = {
  query_game_list: 4 * MIB,
  query_game_detail: 1 * MIB,
  query_cp_kyc: 256 * KIB,
};

/** Levels of JSON nesting. A response needs four: envelope, data, list, element. */
export const MAX_JSON_DEPTH = 32;

/** Characters of `ret_msg` that are kept (decision 14). */
export const RET_MSG_MAX = 200;
