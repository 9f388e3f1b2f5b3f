import type { KycSealedField } from '#src/contract/application.ts';
import { type KycFields, mapFields } from '#src/kyc/record.ts';

/** Of constant length: it does not reveal the length of the value. */
const HIDDEN = '••••';
/** At most this many characters are shown, and at most a quarter of the value. */
const SHOWN_MAX = 4;
/** Numbers show their end; names and addresses their beginning. */
const SHOW_END: ReadonlySet<KycSealedField> = new Set(['id_number', 'tax_id', 'corporate_account']);

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Mask one value; an empty one stays empty. Characters are graphemes and never split. */
export const maskValue = (field: KycSealedField, value: string): string => {
  if (value === '') return '';
  const characters = Array.from(graphemes.segment(value), ({ segment }) => segment);
  const shown = Math.min(SHOWN_MAX, Math.floor(characters.length / 4));
  return SHOW_END.has(field)
    ? HIDDEN + characters.slice(characters.length - shown).join('')
    : characters.slice(0, shown).join('') + HIDDEN;
};

/** Mask a record: enough to recognise, not to use (design, section 7). */
export const maskRecord = (fields: KycFields): KycFields =>
  mapFields((field) => maskValue(field, fields[field]));
