import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '#src/api/api-error.ts';
import { openPicture } from '#src/picture-store/file-store.ts';
import { nameOfPicture, PICTURE_TYPES, parsePictureName } from '#src/picture-store/store.ts';

export const PICTURES_PATH = '/pictures';

/**
 * Most pictures that are sent at once, each with an open file and a piece of it in memory. If there are more, the slowest
 * client is cut off, so that clients that do not read cannot keep all others out.
 */
const SENDING_MAX = 500;

/** The bytes of a name never change, and a browser must execute nothing in them. */
const HEADERS = {
  'accept-ranges': 'bytes',
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
};

/** Finds the bytes that a request wants. @returns `end` below `start` if there are none (RFC 9110, section 14.1.2) */
const partOf = (range: string | undefined, size: number): { start: number; end: number } => {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? [];
  // A range that ends before it begins is invalid and is ignored.
  if (last !== '' && Number(last) < Number(first)) return { start: 0, end: size - 1 };
  if (first === '') return { start: last === '' ? 0 : Math.max(0, size - Number(last)), end: size - 1 };
  return { start: Number(first), end: Math.min(last === '' ? size : Number(last), size - 1) };
};

/**
 * Adds `GET /pictures/<sha256>.<extension>`: a picture of a passed game, for every client that has its address. Files of
 * other games are not in this part of the store (`STORE_AREAS`).
 * @param directory that of the store
 */
export const addPictureRoutes = (app: FastifyInstance, directory: string, sendingMax = SENDING_MAX): void => {
  const sending = new Set<ServerResponse>();
  app.get<{ Params: { name: string } }>(`${PICTURES_PATH}/:name`, async (request, reply) => {
    const picture = parsePictureName(request.params.name);
    if (picture === undefined) throw new ApiError('noSuchPath', 'There is no such picture.');
    const [longest] = sending;
    if (longest !== undefined && sending.size >= sendingMax) {
      longest.destroy();
      sending.delete(longest);
    }
    sending.add(reply.raw);
    reply.raw.once('close', () => sending.delete(reply.raw));
    const { sha256, format } = picture;
    const found = await openPicture(directory, 'passed', nameOfPicture(picture));
    if (found === undefined) throw new ApiError('noSuchPath', 'There is no such picture.');
    const { file, size } = found;
    const { method, headers } = request;
    const etag = `"${sha256}"`;
    const { start, end } = partOf(headers.range, size);
    const isCurrent = headers['if-none-match']?.includes(etag) ?? false;
    // Fastify does not read a stream after the deadline has answered.
    if (reply.sent || isCurrent || end < start || method === 'HEAD') await file.close();
    if (reply.sent) return reply;
    if (end < start && !isCurrent) return reply.code(416).header('content-range', `bytes */${size}`).send();
    reply.headers({ ...HEADERS, etag });
    if (isCurrent) return reply.code(304).send();
    if (end - start + 1 < size) reply.code(206).header('content-range', `bytes ${start}-${end}/${size}`);
    return reply
      .header('content-type', PICTURE_TYPES[format].contentType)
      .header('content-length', end - start + 1)
      .send(method === 'HEAD' ? Readable.from([]) : file.createReadStream({ start, end }));
  });
};
