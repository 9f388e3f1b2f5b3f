import type { z } from 'zod';

/** Why one item was refused: where, and a code; never the value itself. */
export type Reason = { path: string; code: string };

const REASONS_MAX = 20;

/**
 * The reasons of a failed parse, without any value of the input: a path such as `game_icon.3` and zod's issue
 * code, or the code a refinement of ours carries (`not_storable`, `not_http_url`). At most 20.
 */
export const reasonsOf = (error: z.ZodError): Reason[] =>
  error.issues.slice(0, REASONS_MAX).map((issue) => ({
    path: issue.path.join('.'),
    code: issue.code === 'custom' ? String(issue.params?.code ?? 'custom') : issue.code,
  }));
