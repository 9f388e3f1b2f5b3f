import { z } from 'zod';
import { LANES } from '#src/contract/words.ts';
import { isUuid } from '#src/lib/uuid.ts';

/** A route with this parameter in its path. */
export type ById<Name extends string> = { Params: Record<Name, string> };

const TEXT_MAX = 512;

const stored = (text: string): string => text.toWellFormed().replaceAll('\u0000', '');

/** A parameter of an address. One that is empty, repeated or too long counts as absent. */
export const optionalText = z
  .string()
  .trim()
  .max(TEXT_MAX)
  .transform((text) => stored(text) || undefined)
  .optional()
  .catch(undefined);

/** An id of the platform, as it is stored; anything else counts as absent. */
export const optionalId = z.guid().toLowerCase().optional().catch(undefined);

/** Postgres stores revisions as `integer`. */
const REVISION_MAX = 2 ** 31 - 1;
export const revisionNumber = z.coerce.number().int().positive().max(REVISION_MAX);

/** One of these words; anything else counts as absent. */
export const optionalWord = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words).optional().catch(undefined);

/** A field of a form that may be sent several times. */
export const texts = z
  .union([z.string(), z.array(z.string())])
  .default([])
  .transform((given) => [given].flat());

/** Which games an operator decides on: links and forms carry it from game to game, and back to the lane. */
export const laneFilters = z.object({
  lane: optionalWord(LANES),
  application: optionalText,
  q: optionalText,
});
export type LaneFilters = z.infer<typeof laneFilters>;

/** A cursor of the list of a lane. */
export const cursorText = z.string().max(100);

/** @returns the id as it is stored, in lower case; undefined if the text is no id */
export const toId = (text: string): string | undefined => (isUuid(text) ? text.toLowerCase() : undefined);
