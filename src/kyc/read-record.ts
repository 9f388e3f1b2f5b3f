import type { Database } from '#db/client.ts';
import { findKycRecord } from '#db/queries/kyc.ts';
import { type Developer, findDeveloper } from '#db/queries/kyc-list.ts';
import { NotFoundError } from '#src/errors.ts';
import { maskRecord } from '#src/kyc/mask.ts';
import { type KycFields, openKycRecord } from '#src/kyc/record.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';

/** The KYC of an application as an operator reads it. `record` is null if none is stored. */
export type KycView = Developer & { record: KycFields | null };

/** Reads the KYC of an application as it is at one moment, with the record masked. @throws KeyError if the record cannot be decrypted */
export const showKyc = async (sql: Database, keys: KeyRing, application_id: string): Promise<KycView> => {
  const { overview, row } = await sql.begin('isolation level repeatable read read only', async (tx) => ({
    overview: await findDeveloper(tx, application_id),
    row: await findKycRecord(tx, application_id),
  }));
  if (overview === undefined) throw new NotFoundError('application', application_id);
  return { ...overview, record: row === undefined ? null : maskRecord(await openKycRecord(keys, row)) };
};
