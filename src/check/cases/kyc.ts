import { type Case, dataOf } from '#src/check/case.ts';
import { fieldCases } from '#src/check/cases/fields.ts';
import { kycRecordSchema } from '#src/contract/application.ts';

/** cp.queryKYC, section 4.3: the record, or null if there is none. */
export const kycCases: readonly Case[] = fieldCases(
  'kyc',
  '2.6',
  kycRecordSchema,
  async (session) => {
    const call = await session.call('query_cp_kyc', {});
    const value = dataOf(call, 'kyc.envelope');
    return value === null ? [] : [{ value, call, where: 'data' }];
  },
  ['type', 'null', 'limit'],
);
