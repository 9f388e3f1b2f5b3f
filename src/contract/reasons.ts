import type { z } from 'zod';

/** Why an item is invalid: the path of a field (`game_icon.3`) and a code, never the value. */
export type Reason = { path: string; code: string };

const REASONS_MAX = 20;

/**
 * Returns at most 20 reasons of a failed validation. A code is zod's issue code, or that of a refinement in text.ts
 * (`too_long`, `not_storable`, `not_http_url`).
 */
export const reasonsOf = (error: z.ZodError): Reason[] =>
  error.issues.slice(0, REASONS_MAX).map((issue) => ({
    path: issue.path.join('.'),
    code: issue.code === 'custom' ? String(issue.params?.code ?? 'custom') : issue.code,
  }));
