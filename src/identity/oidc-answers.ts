/** The calls to the OpenID provider. */
import { type CustomFetch, customFetch } from 'openid-client';

/** Most bytes of one answer, after decompression. */
const ANSWER_MAX_BYTES = 1024 * 1024;

/** Fetches, and fails if the body exceeds the bound, because openid-client reads it whole. */
const fetchBounded: CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit);
  let left = ANSWER_MAX_BYTES;
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform: (piece, controller) => {
      left -= piece.length;
      if (left < 0) throw new Error('the answer of the provider is too large');
      controller.enqueue(piece);
    },
  });
  return new Response(response.body?.pipeThrough(bound) ?? null, response);
};

/** The bounds of each call, as options of `discovery`. */
export const ANSWER_BOUNDS = { timeout: 10, [customFetch]: fetchBounded };
