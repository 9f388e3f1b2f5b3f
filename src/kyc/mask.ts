import { KYC_SEALED_FIELDS, type KycSealedField } from '#src/contract/application.ts';
import type { KycFields } from '#src/kyc/record.ts';

/** The same whatever is hidden, so that it does not tell how much. */
const HIDDEN = '••••';
/** At most this many characters are shown, and at most a quarter of the value. */
const SHOWN_MAX = 4;

/** Numbers are recognised by their end, names and addresses by their beginning. */
const BY_ITS_END: ReadonlySet<KycSealedField> = new Set(['id_number', 'tax_id', 'corporate_account']);

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** One value, masked; an empty one stays empty. Whole characters as a reader sees them are shown, never halves. */
export const maskValue = (field: KycSealedField, value: string): string => {
  if (value === '') return '';
  const characters = Array.from(graphemes.segment(value), ({ segment }) => segment);
  const shown = Math.min(SHOWN_MAX, Math.floor(characters.length / 4));
  return BY_ITS_END.has(field)
    ? HIDDEN + characters.slice(characters.length - shown).join('')
    : characters.slice(0, shown).join('') + HIDDEN;
};

/** A record, masked: enough to recognise, not to use (design, section 7). */
export const maskRecord = (fields: KycFields): KycFields =>
  Object.fromEntries(KYC_SEALED_FIELDS.map((field) => [field, maskValue(field, fields[field])])) as KycFields;
