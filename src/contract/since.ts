import { z } from 'zod';
import { parseSince } from '#src/lib/since.ts';

/** A time as a person gives it: `24h` ago, `2026-03-31`, or an ISO time; UTC unless it names a zone. */
export const sinceTime = z.string().transform((given, { addIssue }) => {
  try {
    return parseSince(given, 'UTC');
  } catch (error) {
    addIssue(error instanceof Error ? error.message : String(error));
    return z.NEVER;
  }
});
