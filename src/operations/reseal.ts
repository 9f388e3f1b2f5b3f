import { z } from 'zod';
import { planReseal, reseal } from '#src/kyc/reseal.ts';
import { defineOperation } from '#src/operations/operation.ts';

/** The audit entry is committed before the first batch, so that the log also has a reseal that was killed. */
export const resealKeys = defineOperation({
  name: 'kyc.reseal',
  title: 'Wrap every data key with the first key of ENCRYPTION_KEYS',
  notByToken: 'on the command line',
  right: 'kyc',
  input: z.object({}),
  subject: () => 'key:*',
  prepare: async (_, { sql, keys }) => planReseal(sql, await keys()),
  run: async (_tx, _, { prepared }) => prepared,
  log: ({ key_id, total }) =>
    total === 0 ? [] : { subject: `key:${key_id}`, details: { data_keys: total } },
  after: async (plan, _, { sql, keys, signal, onProgress }) =>
    reseal(sql, await keys(), plan, { signal, onProgress }),
});
