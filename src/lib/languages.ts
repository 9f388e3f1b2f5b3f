/** The script of a text, for its language and its direction in pages. */

/** A language for each script: browsers choose a font by it. Han is Chinese unless kana stand beside it. */
const LANGUAGES: readonly (readonly [script: string, pattern: RegExp, lang: string])[] = [
  ['Japanese', /[\p{Script=Hiragana}\p{Script=Katakana}]/gu, 'ja'],
  ['Hangul', /\p{Script=Hangul}/gu, 'ko'],
  ['Han', /\p{Script=Han}/gu, 'zh'],
  ['Arabic', /\p{Script=Arabic}/gu, 'ar'],
  ['Hebrew', /\p{Script=Hebrew}/gu, 'he'],
  ['Thai', /\p{Script=Thai}/gu, 'th'],
  ['Devanagari', /\p{Script=Devanagari}/gu, 'hi'],
  ['Cyrillic', /\p{Script=Cyrillic}/gu, 'ru'],
  ['Greek', /\p{Script=Greek}/gu, 'el'],
  ['Latin', /\p{Script=Latin}/gu, 'und-Latn'],
];

/** Characters that are read: scripts do not change late in a text. */
const READ_MAX = 2_000;

export type Script = { name: string; lang: string; count: number };

/** The scripts of a text, the most frequent first. */
export const scriptsOf = (text: string): Script[] => {
  const read = text.slice(0, READ_MAX);
  return LANGUAGES.map(([name, pattern, lang]) => ({ name, lang, count: read.match(pattern)?.length ?? 0 }))
    .filter(({ count }) => count > 0)
    .toSorted((one, other) => other.count - one.count);
};

/** The script by which a text is set: kana make a text Japanese, however few they are beside Han. */
export const scriptOf = (text: string): Pick<Script, 'name' | 'lang'> => {
  const scripts = scriptsOf(text);
  const [first = { name: 'none', lang: 'und' }] = scripts;
  const japanese = first.name === 'Han' && scripts.find(({ name }) => name === 'Japanese');
  return japanese || first;
};
