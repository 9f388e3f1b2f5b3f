/** The language of a text, by its script. */

/** A language for each script, because browsers choose a font by it. Han is Chinese unless kana stand beside it. */
const LANGUAGES: readonly (readonly [script: RegExp, lang: string])[] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/gu, 'ja'],
  [/\p{Script=Hangul}/gu, 'ko'],
  [/\p{Script=Han}/gu, 'zh'],
  [/\p{Script=Arabic}/gu, 'ar'],
  [/\p{Script=Hebrew}/gu, 'he'],
  [/\p{Script=Thai}/gu, 'th'],
  [/\p{Script=Devanagari}/gu, 'hi'],
  [/\p{Script=Cyrillic}/gu, 'ru'],
  [/\p{Script=Greek}/gu, 'el'],
  [/\p{Script=Latin}/gu, 'und-Latn'],
];

/** Characters that are read, because scripts do not change late in a text. */
const READ_MAX = 2_000;

/** The language of the most frequent script. Kana make a text Japanese, however few they are beside Han. */
export const languageOf = (text: string): string => {
  const read = text.slice(0, READ_MAX);
  const found = LANGUAGES.map(([script, lang]) => ({ lang, count: read.match(script)?.length ?? 0 }))
    .filter(({ count }) => count > 0)
    .toSorted((one, other) => other.count - one.count);
  const { lang } = found[0] ?? { lang: 'und' };
  return lang === 'zh' && found.some((each) => each.lang === 'ja') ? 'ja' : lang;
};
