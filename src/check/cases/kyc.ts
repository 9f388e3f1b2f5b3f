import { type Case, dataOf } from '#src/check/case.ts';
import { fieldCases } from '#src/check/cases/fields.ts';
import { kycRecordSchema } from '#src/contract/application.ts';

const SAYS = ['4.3', 'data is the object of section 2.6.'] as const;

/** cp.queryKYC, section 4.3: the record, or null if there is none. */
export const kycCases: readonly Case[] = fieldCases(
  'kyc',
  kycRecordSchema,
  { items: null, subject: 'data', type: SAYS, null: SAYS, url: SAYS },
  async (session) => {
    const call = await session.call('query_cp_kyc', {});
    const value = dataOf(call, 'kyc.envelope');
    return value === null ? [] : [{ value, call, name: '' }];
  },
  ['type', 'null', 'limit'],
);
