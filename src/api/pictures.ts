import { join } from 'node:path';
import { send } from '@fastify/send';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { ApiError } from '#src/api/api-error.ts';
import { pathInArea } from '#src/picture-store/file-store.ts';
import { nameOfPicture, PICTURE_TYPES, parsePictureName } from '#src/picture-store/store.ts';

export const PICTURES_PATH = '/pictures';

/** Pictures that are being sent at once. Each has a file open and a piece of it in memory. */
const SENDING_MAX = 500;
/** A client that takes longer is cut off: 10 MiB at 87 KB a second. */
const SEND_MS = 2 * 60_000;

/** The bytes of a name never change, and a browser runs nothing of them. */
const HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
};

/** Ends the response of a client that reads too slowly. */
const cutOffLate = ({ raw }: FastifyReply, onEnd: () => void): void => {
  const late = setTimeout(() => raw.destroy(), SEND_MS);
  raw.once('close', () => {
    clearTimeout(late);
    onEnd();
  });
};

/**
 * `GET /pictures/<sha256>.<extension>`: a picture of a passed game, for everybody who has its address. Files of other
 * games are not in this part of the store (`STORE_AREAS`).
 * @param directory of the store
 */
export const addPictureRoutes = (app: FastifyInstance, directory: string): void => {
  const root = join(directory, 'passed');
  let sending = 0;
  app.get<{ Params: { name: string } }>(`${PICTURES_PATH}/:name`, async (request, reply) => {
    const picture = parsePictureName(request.params.name);
    if (picture === undefined) throw new ApiError('noSuchPath', 'There is no such picture.');
    if (sending >= SENDING_MAX)
      throw new ApiError('unavailable', undefined, { headers: { 'retry-after': '1' } });
    sending += 1;
    cutOffLate(reply, () => {
      sending -= 1;
    });
    const file = await send(request.raw, pathInArea(nameOfPicture(picture)), {
      root,
      cacheControl: false,
      contentType: false,
      index: false,
    });
    if (file.statusCode === 404) throw new ApiError('noSuchPath', 'There is no such picture.');
    if (file.statusCode >= 500) throw new Error(`a picture of the store cannot be read (${file.statusCode})`);
    const { contentType } = PICTURE_TYPES[picture.format];
    return reply
      .code(file.statusCode)
      .headers({ ...file.headers, ...(file.type === 'file' && { ...HEADERS, 'content-type': contentType }) })
      .send(file.stream);
  });
};
