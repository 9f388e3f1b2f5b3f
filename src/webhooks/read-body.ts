import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import { WebhookError } from '#src/webhooks/errors.ts';

/** The codings we ask for. zstd is not among them: a frame may demand a window of 128 MiB. */
export const ACCEPT_ENCODING = 'gzip, br';

const DECODERS = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  br: promisify(brotliDecompress),
};
const isCoding = (text: string): text is keyof typeof DECODERS => Object.hasOwn(DECODERS, text);

const tooLarge = (maxBytes: number): WebhookError =>
  new WebhookError('body_too_large', `the answer is larger than ${maxBytes} bytes`);

/**
 * All bytes of a stream, or null when there are more than `maxBytes`: nothing past the cap is kept, and the
 * caller destroys the stream. Copied into one buffer that doubles, because a body in chunks of one byte would
 * otherwise hold a Buffer object, and the packet it came in, for each.
 */
export const collect = (stream: Readable, maxBytes: number, done: (bytes: Buffer | null) => void): void => {
  let bytes: Buffer | undefined;
  let length = 0;
  const take = (chunk: Buffer): void => {
    const total = length + chunk.length;
    if (total > maxBytes) {
      stream.off('data', take);
      done(null);
      return;
    }
    if (bytes === undefined) {
      bytes = chunk;
    } else {
      if (total > bytes.length) {
        const grown = Buffer.allocUnsafeSlow(Math.max(total, 2 * length));
        bytes.copy(grown, 0, 0, length);
        bytes = grown;
      }
      chunk.copy(bytes, length);
    }
    length = total;
  };
  stream.on('data', take);
  stream.once('end', () => done(bytes === undefined ? Buffer.alloc(0) : bytes.subarray(0, length)));
};

/**
 * The body itself: the one content coding undone, to at most `maxBytes`.
 *
 * @throws WebhookError `body_too_large` past the cap; `not_decodable` for bytes that do not decompress, for
 *   codings we did not ask for, and for more than one layer: each layer multiplies what a byte can cost us
 */
export const decode = async (
  bytes: Buffer | null,
  contentEncoding: string | undefined,
  maxBytes: number,
): Promise<Buffer> => {
  if (bytes === null) throw tooLarge(maxBytes);
  const coding = contentEncoding?.trim().toLowerCase() ?? '';
  // An empty body (a 204, say) needs no decoding, whatever its headers say.
  if (coding === '' || coding === 'identity' || bytes.length === 0) return bytes;
  if (!isCoding(coding)) {
    throw new WebhookError('not_decodable', `its content-encoding is not one of: ${ACCEPT_ENCODING}`);
  }
  try {
    return await DECODERS[coding](bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(maxBytes);
    throw new WebhookError('not_decodable', `the answer is not ${coding}, though its headers say so`);
  }
};
