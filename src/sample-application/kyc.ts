import type { KycRecord } from '#src/contract/application.ts';
import { choicesFrom } from '#src/sample-application/random.ts';

const NAMES = ['Lantern', 'Gearwheel', 'Paperboat', 'Moonfish', 'Thimble', 'Copperleaf'] as const;
const KINDS = ['Games', 'Interactive', 'Play Works', 'Entertainment'] as const;
const FORMS = ['Ltd', 'GmbH', 'S.A.', 'Co., Ltd'] as const;
const GIVEN = ['Robin', 'Ada', 'Imre', 'Noor', 'Tove', 'Kei'] as const;
const FAMILY = ['Example', 'Specimen', 'Mustermann', 'Sample', 'Nobody'] as const;
const STREETS = ['1 Nowhere Lane', '12 Sample Street', '7 Placeholder Quay', '99 Invented Avenue'] as const;

/** A KYC record (section 2.6) of a company that clearly does not exist. */
export const generateKycRecord = (seed: string): KycRecord => {
  const choices = choicesFrom(`${seed} kyc`);
  const digits = (count: number): string => Array.from({ length: count }, () => choices.below(10)).join('');
  const short = `${choices.pick(NAMES)} ${choices.pick(KINDS)}`;
  return {
    cp_id: `cp-${digits(6)}`,
    cp_name: `${short} (Sample) ${choices.pick(FORMS)}`,
    cp_short_name: short,
    legal_entity: `${choices.pick(GIVEN)} ${choices.pick(FAMILY)}`,
    id_type: 'passport',
    id_number: `SAMPLE${digits(8)}`,
    tax_id: `XX-${digits(9)}`,
    registered_address: `${choices.pick(STREETS)}, Sampletown ${digits(5)}`,
    corporate_account: `XX00 SAMP ${digits(4)} ${digits(4)} ${digits(4)}`,
    opening_bank: 'Bank of Nowhere, Sampletown branch',
  };
};
