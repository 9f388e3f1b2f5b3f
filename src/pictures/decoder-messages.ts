/**
 * What the media process and its decoder send each other over pipes. A picture may have taken the decoder over, so a reply
 * is read up to a bound, and only what a reply has is taken from it. Node's own channel has no bound, and a message of its
 * protocol would end the media process.
 */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { THUMBNAIL_WIDTHS, type ThumbnailWidth } from '#src/contract/pictures.ts';
import { type ImageFormat, PICTURE_BOUNDS } from '#src/rules/pictures.ts';

export type DecodeRequest = { bytes: Buffer; format: ImageFormat };

/** The length of a picture, and its format. */
export const REQUEST_BYTES = 8;

/** Encodes the header that precedes the bytes of a picture. */
export const encodeRequest = ({ bytes, format }: DecodeRequest): Buffer => {
  const request = Buffer.alloc(REQUEST_BYTES);
  request.writeUInt32LE(bytes.length, 0);
  request.write(format, 4);
  return request;
};

/** Reads what `encodeRequest` wrote. */
export const parseRequest = (request: Buffer): { length: number; format: ImageFormat } => ({
  length: request.readUInt32LE(0),
  format: request.toString('utf8', 4).replaceAll('\0', '') as ImageFormat,
});

export type Thumbnail = { width: ThumbnailWidth; webp: Buffer };
/** A picture with its thumbnails, or why there are none. `undecodable`: the process crashed or was killed. */
export type Decoded =
  | {
      outcome: 'shown';
      width: number;
      height: number;
      frames: number;
      dhash: bigint | null;
      thumbnails: Thumbnail[];
    }
  | { outcome: 'broken' | 'too_many_pixels' | 'ambiguous' | 'undecodable' };

/** `ms`: the CPU time of the picture. `unconfined`: why the process could not confine itself. */
export type DecoderReply = { decoded: Decoded; ms: number; unconfined: string | undefined };

/** The lengths of the header and of the thumbnails after it. */
const PREFIX_BYTES = 8;
const HEADER_MAX_BYTES = 1_024;
/** The largest thumbnail has 1024 × 4096 pixels: without any compression, half of them. */
const THUMBNAILS_MAX_BYTES = 8 * 1024 * 1024;

const size = z.int().min(1).max(PICTURE_BOUNDS.pixels);
const headerSchema = z.object({
  decoded: z.discriminatedUnion('outcome', [
    z.object({
      outcome: z.literal('shown'),
      width: size,
      height: size,
      frames: size,
      dhash: z
        .string()
        .regex(/^-?\d{1,19}$/)
        .nullable(),
      /** The length of each thumbnail. */
      thumbnails: z.array(size).length(THUMBNAIL_WIDTHS.length),
    }),
    z.object({ outcome: z.enum(['broken', 'too_many_pixels', 'ambiguous']) }),
  ]),
  ms: z.number().min(0).max(60_000),
  unconfined: z.string().optional(),
});
type Header = z.infer<typeof headerSchema>;

/** A reply as the process writes it. */
export const encodeReply = ({ decoded, ...about }: DecoderReply): Buffer => {
  const webps = decoded.outcome === 'shown' ? decoded.thumbnails.map(({ webp }) => webp) : [];
  const lengths = webps.map((webp) => webp.length);
  const said =
    decoded.outcome === 'shown'
      ? { ...decoded, dhash: decoded.dhash?.toString() ?? null, thumbnails: lengths }
      : decoded;
  const header = Buffer.from(JSON.stringify({ decoded: said, ...about }));
  const body = Buffer.concat(webps);
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32LE(header.length, 0);
  prefix.writeUInt32LE(body.length, 4);
  return Buffer.concat([prefix, header, body]);
};

/** @returns undefined if the stream ends before */
const readBytes = async (
  stream: Readable,
  length: number,
  signal: AbortSignal,
): Promise<Buffer | undefined> => {
  const bytes = Buffer.alloc(length);
  for (let filled = 0; filled < length; ) {
    const piece: Buffer | null = stream.read(Math.min(length - filled, Math.max(1, stream.readableLength)));
    if (piece === null) {
      if (stream.readableEnded || stream.destroyed) return undefined;
      await once(stream, 'readable', { signal });
    } else filled += piece.copy(bytes, filled);
  }
  return bytes;
};

const decodedOf = ({ decoded }: Header, webps: Buffer): Decoded | undefined => {
  if (decoded.outcome !== 'shown') return decoded;
  let at = 0;
  const thumbnails = THUMBNAIL_WIDTHS.map((width, index) => {
    const start = at;
    at += decoded.thumbnails[index] ?? 0;
    return { width, webp: webps.subarray(start, at) };
  });
  if (at !== webps.length) return undefined;
  const dhash = decoded.dhash === null ? null : BigInt.asIntN(64, BigInt(decoded.dhash));
  return { ...decoded, dhash, thumbnails };
};

/**
 * Reads one reply of a process, which may write anything.
 * @returns undefined if it is none, or is larger than any
 * @throws if the signal aborts, or the stream fails
 */
export const readReply = async (stream: Readable, signal: AbortSignal): Promise<DecoderReply | undefined> => {
  const prefix = await readBytes(stream, PREFIX_BYTES, signal);
  const headerBytes = prefix?.readUInt32LE(0) ?? Number.POSITIVE_INFINITY;
  const webpBytes = prefix?.readUInt32LE(4) ?? Number.POSITIVE_INFINITY;
  if (headerBytes > HEADER_MAX_BYTES || webpBytes > THUMBNAILS_MAX_BYTES) return undefined;
  const text = await readBytes(stream, headerBytes, signal);
  const webps = await readBytes(stream, webpBytes, signal);
  if (text === undefined || webps === undefined) return undefined;
  const header = headerSchema.parse(JSON.parse(text.toString()));
  const decoded = decodedOf(header, webps);
  return decoded && { decoded, ms: header.ms, unconfined: header.unconfined };
};
