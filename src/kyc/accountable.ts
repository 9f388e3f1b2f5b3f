import type { Queryable } from '#db/client.ts';
import { findKycState } from '#db/queries/kyc.ts';
import { UsageError } from '#src/errors.ts';

/** Who does it and why: kept in the log. */
export type Accountable = { by: string; reason: string };

/** @throws UsageError when a word is missing */
export const requireWord = (text: string | undefined, option: string): string => {
  const word = text?.trim() ?? '';
  if (word !== '') return word;
  throw new UsageError(`${option} says nothing: this is kept in the log, and needs it.`);
};

/** @throws UsageError when the name or the reason is missing */
export const requireAccountable = ({ by, reason }: Partial<Accountable>): Accountable => ({
  by: requireWord(by, '--by'),
  reason: requireWord(reason, '--reason'),
});

/**
 * Where an application's KYC stands, also when the application was removed.
 * @throws UsageError when no such application was ever registered
 */
export const requireKycState = async (sql: Queryable, application_id: string) => {
  const state = await findKycState(sql, application_id);
  if (state !== undefined) return state;
  throw new UsageError(
    `There is no application "${application_id}": npx catalogue app list shows those there are.`,
  );
};
