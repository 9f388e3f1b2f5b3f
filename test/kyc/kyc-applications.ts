import { findKycRecord } from '#db/queries/kyc.ts';
import { addApplication } from '#test/support/factories.ts';
import { ringOf } from '#test/support/kyc.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const keys = ringOf(['k1']);

/** Applications of a database, whose KYC records are stored with the key `k1`. */
export const useKycApplications = () => {
  const database = useTestDatabase();
  let next = 0;
  const anApplication = async (): Promise<string> => {
    next += 1;
    await addApplication(database.sql, `app-${next}`, {}, keys);
    return `app-${next}`;
  };
  const rowOf = async (application_id: string) => {
    const row = await findKycRecord(database.sql, application_id);
    if (row === undefined) throw new Error(`no record of ${application_id}`);
    return row;
  };
  return { database, keys, anApplication, rowOf };
};
