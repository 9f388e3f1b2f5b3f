// Applications choose texts that terminals show, so no text may control the terminal, or disguise what it shows.

/** The C0 control characters. The strings of a JSON text contain none, because `JSON.stringify` escapes them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are replaced
const C0_CONTROLS = /[\u0000-\u001f]/g;

/** Characters that change the direction of text: marks, embeddings, overrides and isolates. */
export const DIRECTION_CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** White space, control characters, and characters that fonts draw as nothing. */
const BLANK = /^[\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

/** Returns the name of a game, or `placeholder` if it has no visible character. */
export const nameOr = (name: string, placeholder = '(no name)'): string =>
  BLANK.test(name) ? placeholder : name;

/** The first letter that is seen. */
export const firstLetter = (name: string): string =>
  [...name.replaceAll(DIRECTION_CONTROLS, '').trim()][0]?.toUpperCase() ?? '?';

/** DEL and the C1 control characters, line and paragraph separators, and `DIRECTION_CONTROLS`. */
const UNPRINTABLE_IN_JSON = new RegExp(`[\\u007f-\\u009f\\u2028\\u2029]|${DIRECTION_CONTROLS.source}`, 'g');

/** Replaces each unprintable character, line breaks and tabs too. */
export const replaceUnprintable = (text: string, replacement: string): string =>
  text.replaceAll(C0_CONTROLS, replacement).replaceAll(UNPRINTABLE_IN_JSON, replacement);

/** Makes one line of a text: line breaks and tabs become spaces, other unprintable characters U+FFFD. */
export const toPrintable = (text: string): string =>
  replaceUnprintable(text.replaceAll(/[\t\n\v\f\r\u2028\u2029]/g, ' '), '\ufffd');

/**
 * Escapes the unprintable characters that JSON may contain.
 * @param backslash what begins an escape: two backslashes if a program decodes the text once before a terminal shows it,
 *   as pino-pretty does
 */
export const escapeUnprintable = (json: string, backslash = '\\'): string =>
  json.replaceAll(
    UNPRINTABLE_IN_JSON,
    (character) => `${backslash}u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
