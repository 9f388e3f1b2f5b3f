import type { Actor } from '#db/queries/audit.ts';
import { UsageError } from '#src/errors.ts';

/** Who acts on a KYC record, and why: written to the access log and to the audit log. */
export type ActorWithReason = Actor & { reason: string };

const requireNonEmpty = (text: string, option: string): string => {
  const trimmed = text.trim();
  if (trimmed !== '') return trimmed;
  throw new UsageError(`${option} is empty: the log needs it.`);
};

/** @returns the actor without outer spaces @throws UsageError when the name is empty */
export const requireName = <Someone extends Actor>(someone: Someone): Someone => ({
  ...someone,
  actor: requireNonEmpty(someone.actor, '--by'),
});

/** @returns name and reason without outer spaces @throws UsageError when one of them is empty */
export const requireReason = (someone: ActorWithReason): ActorWithReason => ({
  ...requireName(someone),
  reason: requireNonEmpty(someone.reason, '--reason'),
});

/** @param row of an application, undefined when it was never registered @throws UsageError then */
export const requireRegistered = <Row>(row: Row | undefined, application_id: string): Row => {
  if (row !== undefined) return row;
  throw new UsageError(`There is no application "${application_id}". List them: npx catalogue app list`);
};
