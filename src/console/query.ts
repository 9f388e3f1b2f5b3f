import { z } from 'zod';

const TEXT_MAX = 512;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A parameter of an address. One that is empty, repeated or too long counts as absent. */
export const optionalText = z
  .string()
  .trim()
  .max(TEXT_MAX)
  .transform((text) => text.toWellFormed().replaceAll('\u0000', '') || undefined)
  .optional()
  .catch(undefined);

/** An id of the platform; anything else counts as absent. */
export const optionalId = z.string().regex(UUID).optional().catch(undefined);

/** One of these words; anything else counts as absent. */
export const optionalWord = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words).optional().catch(undefined);

export const isId = (text: string): boolean => UUID.test(text);
