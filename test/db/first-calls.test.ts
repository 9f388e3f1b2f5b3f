import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

/** Calls with a record that nothing else has. @returns whether it is still in memory afterwards */
const isKept = async (call: (record: { tax_id: string }) => Promise<unknown>): Promise<boolean> => {
  const make = async (): Promise<WeakRef<object>> => {
    const record = { tax_id: 'CNRY-TAX-55120934' };
    await call(record);
    return new WeakRef(record);
  };
  const record = await make();
  await nextTurn();
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return record.deref() !== undefined;
};

// Each statement stands here alone, so this is its first call in the process.
test('a process does not keep what the first call of a statement had, such as the first KYC record', async () => {
  const { sql } = database;
  const inTransaction = await isKept((record) =>
    sql.begin(async (tx) => tx`select length(${record.tax_id}) as in_a_transaction`),
  );
  const alone = await isKept((record) => {
    const read = async () => sql`select length(${record.tax_id}) as alone`;
    return read();
  });
  const inPart = await isKept((record) => {
    const part = () => sql`length(${record.tax_id})`;
    return sql`select ${part()} as of_a_part`;
  });
  expect({ inTransaction, alone, inPart }).toEqual({ inTransaction: false, alone: false, inPart: false });
});
