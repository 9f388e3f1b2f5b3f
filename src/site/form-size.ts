/** Bytes of a character outside the basic plane, percent-encoded: the most that one takes. */
const CHARACTER_MAX_BYTES = 12;
/** Characters of the ids, names, words and the password that a form has beside its texts. */
const SHORT_FIELDS = 2_048;

/** Returns the most bytes of a form's body. @param characters the most characters of its texts */
export const formMaxBytes = (characters: number): number => (characters + SHORT_FIELDS) * CHARACTER_MAX_BYTES;
