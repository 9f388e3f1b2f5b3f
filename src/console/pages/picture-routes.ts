/** `/pictures/:id`: thumbnails, by the SHA-256 of the picture's bytes. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { readThumbnail } from '#db/queries/pictures.ts';
import { THUMBNAIL_WIDTHS } from '#src/contract/pictures.ts';
import { sendError } from '#src/site/answers.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import type { ById } from '#src/site/query.ts';

const SHA256 = /^[0-9a-f]{64}$/;
const [, medium] = THUMBNAIL_WIDTHS;
const query = z.object({
  w: z.coerce.number().pipe(z.literal(THUMBNAIL_WIDTHS)).catch(medium),
});

/** The id is a hash of the bytes, so the response never changes. Only this operator's browser may cache it. */
const CACHE = 'private, max-age=604800, immutable';
const NO_PICTURE =
  'There is no thumbnail with this id. It was never made, or it was deleted because no page showed it for a long time.';
const POLICY = "default-src 'none'; sandbox";

/** Adds `/pictures/:id`. */
export const addPictures = (app: FastifyInstance, { sql }: ConsoleOptions): void => {
  app.get<ById<'id'>>('/pictures/:id', { config: { right: 'view' } }, async (request, reply) => {
    const { id } = request.params;
    const { w } = query.parse(request.query);
    const webp = SHA256.test(id) ? await readThumbnail(sql, id, w) : undefined;
    if (webp === undefined) return sendError(reply, 404, 'No such picture', NO_PICTURE);
    return reply
      .type('image/webp')
      .header('cache-control', CACHE)
      .header('content-security-policy', POLICY)
      .send(webp);
  });
};
