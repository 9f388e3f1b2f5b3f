import { randomUUIDv7 } from 'node:crypto';
import type { Database } from '#db/client.ts';
import {
  type ContentProviderRow,
  deleteKycRecords,
  findKycState,
  insertKycAccess,
  lockKycState,
  mapContentProvider,
  saveKycState,
} from '#db/queries/kyc.ts';
import { CatalogueError } from '#src/errors.ts';
import { type Actor, requireActor, requireNonEmpty, requireRegistered } from '#src/kyc/guards.ts';

/**
 * Delete every version of an application's KYC record, with data keys and fingerprints. The access log keeps
 * who, when and why. A pull in progress then writes nothing, and scheduled pulls skip the application until an operator
 * pulls its record.
 * @returns the number of versions
 * @throws UsageError without a name or a reason
 */
export const eraseKyc = async (sql: Database, application_id: string, actor: Actor): Promise<number> => {
  const { by, reason } = requireActor(actor);
  return sql.begin(async (tx) => {
    const { now } = requireRegistered(await findKycState(tx, application_id), application_id);
    await lockKycState(tx, application_id);
    await insertKycAccess(tx, { application_id, record_id: null, action: 'erase', accessed_by: by, reason });
    await saveKycState(tx, application_id, { state: 'erased', asked_at: now, refused_cp_id: null });
    return deleteKycRecords(tx, application_id);
  }) as Promise<number>;
};

/**
 * Accept the refused `cp_id` of an application (design, section 5, decision 17). It is mapped to a new platform
 * `cp_id`, or to its former one. The next pull stores its record.
 * @param expected the application's `cp_id` that the operator saw; omitted: any
 * @throws CatalogueError when there is none, or another than expected
 */
export const acceptCpId = async (
  sql: Database,
  application_id: string,
  by: string,
  expected?: string,
): Promise<ContentProviderRow> => {
  const accepted_by = requireNonEmpty(by, '--by');
  return sql.begin(async (tx) => {
    requireRegistered(await findKycState(tx, application_id), application_id);
    const { refused_cp_id, asked_at } = await lockKycState(tx, application_id);
    if (refused_cp_id === null)
      throw new CatalogueError(`No other cp_id of ${application_id} waits to be accepted.`);
    if (expected !== undefined && expected !== refused_cp_id) {
      throw new CatalogueError(
        `The cp_id of ${application_id} that waits to be accepted is ${refused_cp_id}, not ${expected}. Look at it (npx catalogue kyc show ${application_id}), then decide again.`,
      );
    }
    const provider = { cp_id: randomUUIDv7(), application_id, application_cp_id: refused_cp_id, accepted_by };
    await saveKycState(tx, application_id, { state: 'pending', asked_at, refused_cp_id: null });
    return mapContentProvider(tx, provider);
  }) as Promise<ContentProviderRow>;
};
