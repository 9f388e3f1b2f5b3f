import type { z } from 'zod';

/** Why an item is invalid: the path of a field and a code, never the value. */
export type Reason = { path: string; code: string };

const REASONS_MAX = 20;

/**
 * The reasons of a failed validation, at most 20: a path such as `game_icon.3` and zod's issue code, or the code of a
 * refinement in text.ts (`too_long`, `not_storable`, `not_http_url`).
 */
export const reasonsOf = (error: z.ZodError): Reason[] =>
  error.issues.slice(0, REASONS_MAX).map((issue) => ({
    path: issue.path.join('.'),
    code: issue.code === 'custom' ? String(issue.params?.code ?? 'custom') : issue.code,
  }));
