import { toPrintable } from '#src/lib/printable.ts';
import { hideToken } from '#src/webhooks/hide-token.ts';

/** Quotes a text of an application: one line without the token, cut to `max` characters, in quotes if spaces are around it. */
export const quote = (text: string, accessToken: string, max: number): string => {
  // The token goes first, because half of it may remain otherwise.
  const whole = hideToken(text, accessToken);
  const characters = [...whole.slice(0, 2 * max + 2).toWellFormed()];
  const line = toPrintable(characters.slice(0, max).join(''));
  const shown = characters.length > max ? `${line}…` : line;
  return shown === shown.trim() ? shown : `"${shown}"`;
};

const NAMED_MAX = 5;

/** Names the first five. */
export const nameSome = (names: readonly string[]): string =>
  [...names.slice(0, NAMED_MAX), ...(names.length > NAMED_MAX ? ['…'] : [])].join(', ');
