// Applications choose texts that terminals show: none may control the terminal, or disguise what it shows.

/** Control characters of ASCII. JSON and JSON logs contain none: `JSON.stringify` escapes them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are replaced
const ASCII_CONTROL = /[\u0000-\u001f]/g;

/** DEL and other control characters, line separators, and marks that change the direction of text. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Makes one line of a text: line breaks and tabs become spaces, other unprintable characters U+FFFD. */
export const toPrintable = (text: string): string =>
  text
    .replaceAll(/[\t\n\v\f\r\u2028\u2029]/g, ' ')
    .replaceAll(ASCII_CONTROL, '\ufffd')
    .replaceAll(UNPRINTABLE, '\ufffd');

/** Escapes the unprintable characters that JSON may contain. @param backslash what each escape begins with */
export const escapeUnprintable = (json: string, backslash = '\\'): string =>
  json.replaceAll(
    UNPRINTABLE,
    (character) => `${backslash}u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
