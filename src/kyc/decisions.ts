import { randomUUIDv7 } from 'node:crypto';
import type { Database } from '#db/client.ts';
import {
  type ContentProviderRow,
  deleteKycRecords,
  insertKycAccess,
  lockKycState,
  mapContentProvider,
  saveKycState,
} from '#db/queries/kyc.ts';
import { CatalogueError } from '#src/errors.ts';
import { type Accountable, requireAccountable, requireKycState, requireWord } from '#src/kyc/accountable.ts';

/**
 * Delete every version of an application's record, with data keys and fingerprints; who, when and why stay in
 * the log. Needs no key. A pull that is under way writes nothing any more, and scheduled ones leave the
 * application alone until an operator asks anew.
 * @returns how many versions there were
 * @throws UsageError without a name or a reason
 */
export const eraseKyc = async (
  sql: Database,
  application_id: string,
  accountable: Accountable,
): Promise<number> => {
  const { by, reason } = requireAccountable(accountable);
  return sql.begin(async (tx) => {
    const { now } = await requireKycState(tx, application_id);
    await lockKycState(tx, application_id);
    await insertKycAccess(tx, { application_id, record_id: null, action: 'erase', accessed_by: by, reason });
    await saveKycState(tx, application_id, { state: 'erased', asked_at: now, refused_cp_id: null });
    return deleteKycRecords(tx, application_id);
  }) as Promise<number>;
};

/**
 * Accept the `cp_id` that was refused (design, section 5, decision 17): it gets a platform `cp_id` of its own,
 * or the one it had before. The next pull takes its record.
 * @param expected what the operator saw waiting, in the application's words; left out, whatever waits
 * @throws CatalogueError when none waits, or another than was expected
 */
export const acceptCpId = async (
  sql: Database,
  application_id: string,
  by: string,
  expected?: string,
): Promise<ContentProviderRow> => {
  const accepted_by = requireWord(by, '--by');
  return sql.begin(async (tx) => {
    await requireKycState(tx, application_id);
    const { refused_cp_id, asked_at } = await lockKycState(tx, application_id);
    if (refused_cp_id === null)
      throw new CatalogueError(`No other cp_id of ${application_id} waits to be accepted.`);
    if (expected !== undefined && expected !== refused_cp_id) {
      throw new CatalogueError(
        `The cp_id of ${application_id} that waits to be accepted is ${refused_cp_id}, not ${expected}: look at it (npx catalogue kyc show ${application_id}) and decide again.`,
      );
    }
    const provider = { cp_id: randomUUIDv7(), application_id, application_cp_id: refused_cp_id, accepted_by };
    const mapped = await mapContentProvider(tx, provider);
    await saveKycState(tx, application_id, { state: 'pending', asked_at, refused_cp_id: null });
    return mapped;
  }) as Promise<ContentProviderRow>;
};
