/** The store of pictures. */
import { z } from 'zod';
import { forgetStored } from '#db/queries/picture-store.ts';
import { defineOperation } from '#src/operations/operation.ts';

const PICTURES_MAX = 1_000;

export const repairPictures = defineOperation({
  name: 'picture.repair',
  title: 'Record that the store of pictures lost pictures',
  answer: z.array(z.string()),
  right: 'manage_applications',
  input: z.object({
    sha256: z
      .array(z.string().regex(/^[0-9a-f]{64}$/))
      .min(1)
      .max(PICTURES_MAX),
  }),
  subject: () => 'picture:*',
  run: (tx, { sha256 }) => forgetStored(tx, sha256),
  log: (lost) => (lost.length === 0 ? [] : { details: { pictures: lost.length } }),
});
