import { randomBytes } from 'node:crypto';
import { KYC_SEALED_FIELDS } from '#src/contract/application.ts';
import { type KycFields, openKycRecord, sealKycRecord } from '#src/kyc/record.ts';
import { localKey } from '#src/sealing/key-provider.ts';
import type { Row } from '#test/bench/report.ts';

const FIELD_TEXT = 'Lighthouse Interactive Entertainment';

/** Sealing and opening KYC records with a key in the process. */
export const measureSealing = async (records: number): Promise<Row[]> => {
  const key = localKey('bench', randomBytes(32));
  const keys = { records: [key], tokens: [key] };
  const fields = Object.fromEntries(KYC_SEALED_FIELDS.map((field) => [field, FIELD_TEXT])) as KycFields;
  const sealed = await sealKycRecord(keys, 'bench', fields);
  const rate = async (work: () => Promise<unknown>): Promise<number> => {
    const from = performance.now();
    for (let record = 0; record < records; record += 1) await work();
    return records / ((performance.now() - from) / 1_000);
  };
  const section = 'sealing';
  const unit = 'records/s';
  const added = KYC_SEALED_FIELDS.map((field) => sealed[field].length - FIELD_TEXT.length);
  return [
    { section, figure: 'seal', value: await rate(() => sealKycRecord(keys, 'bench', fields)), unit },
    {
      section,
      figure: 'open',
      value: await rate(() => openKycRecord(keys, { ...sealed, application_id: 'bench' })),
      unit,
    },
    { section, figure: 'a sealed field', value: Math.max(...added), unit: 'bytes more than its text' },
  ];
};
