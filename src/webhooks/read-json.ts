import { MAX_JSON_DEPTH } from '#src/webhooks/bounds.ts';
import { WebhookError } from '#src/webhooks/errors.ts';

/** Fatal: a wrong byte is an error, not U+FFFD. A byte order mark is ignored, as RFC 8259, section 8.1 lets us. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Where the string that opens before `from` closes; the text's length when it never does. */
const endOfString = (text: string, from: number): number => {
  for (let quote = text.indexOf('"', from); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let escapes = 0;
    while (quote - 1 - escapes >= from && text.charCodeAt(quote - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return quote;
  }
  return text.length;
};

/**
 * Does this JSON text nest deeper than `max`? One pass over the text before it is parsed: strings are jumped
 * over, everything else is judged by its brackets. Text that is no JSON gets an answer too, and fails to parse.
 */
export const isDeeperThan = (text: string, max: number): boolean => {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (character === QUOTE) {
      index = endOfString(text, index + 1);
    } else if (character === OPEN_BRACE || character === OPEN_BRACKET) {
      depth += 1;
      if (depth > max) return true;
    } else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) {
      depth -= 1;
    }
  }
  return false;
};

/**
 * The JSON value in these bytes.
 *
 * @throws WebhookError `not_utf8`, `too_deep` or `not_json`; never with a piece of the text, which may be a
 *   KYC record
 */
export const readJson = (bytes: Uint8Array): unknown => {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new WebhookError('not_utf8', 'the answer is not UTF-8');
  }
  if (isDeeperThan(text, MAX_JSON_DEPTH)) {
    throw new WebhookError('too_deep', `the answer nests deeper than ${MAX_JSON_DEPTH} levels`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new WebhookError('not_json', 'the answer is not JSON');
  }
};
