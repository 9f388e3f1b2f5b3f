/** How a run ends. Apart from its table: what only counts outcomes must not load drizzle (0.85 s, 210 MB). */
export const RUN_OUTCOMES = ['succeeded', 'partial', 'suspect', 'failed', 'abandoned'] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];
