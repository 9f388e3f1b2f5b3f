import { randomBytes, randomUUIDv7 } from 'node:crypto';
import type { WrappedKey } from '#db/schema/applications.ts';
import { type KycSealedField, mapKycFields } from '#src/contract/application.ts';
import { KEY_BYTES } from '#src/sealing/aes-gcm.ts';
import { type KeyRing, unwrapDataKey, wrapDataKey } from '#src/sealing/key-provider.ts';
import { openValue, type SealedRecord, sealValue } from '#src/sealing/sealed-value.ts';

/** The nine sealed fields of a KYC record in clear. */
export type KycFields = Record<KycSealedField, string>;
/** The nine fields sealed, and their wrapped data key. */
export type SealedFields = Record<KycSealedField, Uint8Array> & {
  record_id: string;
  data_keys: WrappedKey[];
};

/**
 * The record that values are sealed for. It includes the application, so a row moved to another application does not
 * open. Rows moved to `kyc_former_records` keep the table name `kyc_records`.
 */
export const kycRecord = (application_id: string, record_id: string): SealedRecord => ({
  table: 'kyc_records',
  record_id: `${application_id}/${record_id}`,
});

/**
 * Seals a record under a new record id and a new data key, wrapped by the ring's first key.
 * @throws KeyError `no_key` or `key_service`
 */
export const sealKycRecord = async (
  keys: KeyRing,
  application_id: string,
  fields: KycFields,
): Promise<SealedFields> => {
  const record_id = randomUUIDv7();
  const record = kycRecord(application_id, record_id);
  const dataKey = randomBytes(KEY_BYTES);
  return {
    record_id,
    data_keys: await wrapDataKey(keys.records, dataKey, record),
    ...mapKycFields((column) => sealValue(dataKey, { ...record, column }, Buffer.from(fields[column]))),
  };
};

/** Opens all nine fields. @throws KeyError that names the record, and the column if one column fails */
export const openKycRecord = async (
  keys: KeyRing,
  row: SealedFields & { application_id: string },
): Promise<KycFields> => {
  const record = kycRecord(row.application_id, row.record_id);
  const dataKey = await unwrapDataKey(keys.records, row.data_keys, record);
  return mapKycFields((column) =>
    Buffer.from(openValue(dataKey, { ...record, column }, row[column])).toString(),
  );
};
