import { type KycSealedField, mapKycFields } from '#src/contract/application.ts';
import type { KycFields } from '#src/kyc/record.ts';

/** The hidden part of a value, of constant length, so that it does not reveal the length of the value. */
export const HIDDEN = '••••';
/** At most this many characters are shown, and at most a quarter of the value. */
const SHOWN_MAX = 4;
/** A masked number shows its last characters. A masked name or address shows its first. */
const SHOW_END: ReadonlySet<KycSealedField> = new Set(['id_number', 'tax_id', 'corporate_account']);

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Masks one value. An empty value stays empty. One character is one grapheme, so combined characters are not split. */
export const maskValue = (field: KycSealedField, value: string): string => {
  if (value === '') return '';
  const characters = Array.from(graphemes.segment(value), ({ segment }) => segment);
  const shown = Math.min(SHOWN_MAX, Math.floor(characters.length / 4));
  return SHOW_END.has(field)
    ? HIDDEN + characters.slice(characters.length - shown).join('')
    : characters.slice(0, shown).join('') + HIDDEN;
};

/** Masks a record, so that an operator can recognise the values, but cannot use them. */
export const maskRecord = (fields: KycFields): KycFields =>
  mapKycFields((field) => maskValue(field, fields[field]));
