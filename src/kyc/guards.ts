import { UsageError } from '#src/errors.ts';

/** Who acts, and why: written to the access log. */
export type Actor = { by: string; reason: string };

/** @returns the text without outer spaces @throws UsageError when nothing is left */
export const requireNonEmpty = (text: string | undefined, option: string): string => {
  const trimmed = text?.trim() ?? '';
  if (trimmed !== '') return trimmed;
  throw new UsageError(`${option} is empty: the log needs it.`);
};

/** @throws UsageError when the name or the reason is empty */
export const requireActor = ({ by, reason }: Partial<Actor>): Actor => ({
  by: requireNonEmpty(by, '--by'),
  reason: requireNonEmpty(reason, '--reason'),
});

/** @param row of an application, undefined when it was never registered @throws UsageError then */
export const requireRegistered = <Row>(row: Row | undefined, application_id: string): Row => {
  if (row !== undefined) return row;
  throw new UsageError(`There is no application "${application_id}". List them: npx catalogue app list`);
};
