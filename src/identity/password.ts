import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { CatalogueError } from '#src/errors.ts';
import { shareConcurrency } from '#src/lib/share-concurrency.ts';

/** NIST SP 800-63B-4, section 3.1.1.2: a password that is the only factor has at least 15 characters. */
export const PASSWORD_MIN = 15;
/** The same section requires that 64 are accepted. */
const PASSWORD_MAX = 256;

/** OWASP's first choice for argon2id: 19 MiB, two passes. */
const MEMORY_KIB = 19_456;
const PASSES = 2;
const TAG_BYTES = 32;
const SALT_BYTES = 16;

const argon2Async = promisify(argon2);

/** Hashes at once, because more would take the memory of the process. */
const shareHashes = shareConcurrency(4);

/** `unknown`: a browser in which the operator has not signed in. However many there are, the others have half of the places. */
type Browser = 'known' | 'unknown';

const derive = (
  password: string,
  nonce: Buffer,
  memory: number,
  passes: number,
  browser: Browser = 'known',
): Promise<Buffer> => {
  // SP 800-63B: the same characters typed on different keyboards give the same password.
  const message = password.normalize('NFKC');
  const parameters = { message, nonce, parallelism: 1, tagLength: TAG_BYTES, memory, passes };
  return shareHashes(browser, () => argon2Async('argon2id', parameters));
};

/** @returns the password's argon2id hash in PHC format */
export const hashPassword = async (password: string): Promise<string> => {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, MEMORY_KIB, PASSES);
  const encode = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=1$${encode(salt)}$${encode(hash)}`;
};

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=1\$([\w+/]+)\$([\w+/]+)$/;

/**
 * Verifies a password. It takes the same time if there is no hash, so that the time of an answer does not tell whether an
 * operator exists.
 */
export const verifyPassword = async (
  password: string,
  stored: string | null,
  browser: Browser = 'known',
): Promise<boolean> => {
  const [, memory, passes, salt = '', hash = ''] = PHC.exec(stored ?? '') ?? [];
  const expected = Buffer.from(hash, 'base64');
  const found = await derive(
    password,
    salt === '' ? randomBytes(SALT_BYTES) : Buffer.from(salt, 'base64'),
    Number(memory ?? MEMORY_KIB),
    Number(passes ?? PASSES),
    browser,
  );
  return expected.length === found.length && timingSafeEqual(expected, found);
};

const createGuesser = async () => {
  const { ZxcvbnFactory } = await import('@zxcvbn-ts/core');
  const { adjacencyGraphs, dictionary } = await import('@zxcvbn-ts/language-common');
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
};
let guesser: ReturnType<typeof createGuesser> | undefined;

/** Words of this product and of the operator's login and name add no strength to a password. */
const PRODUCT_WORDS = ['game', 'catalogue', 'console'];
/** Shorter words are parts of many others. */
const WORD_MIN = 3;

/** zxcvbn: 0 to 4; 3 needs more than 10^8 guesses. */
const SCORE_MIN = 3;
/** Most characters that are judged: zxcvbn blocks the process for 40 to 100 ms, with 100 characters for 120 to 300. */
const GUESSED_MAX = 40;

/**
 * Requires a password that is long enough and not easy to guess: no common password, no repetition, no row of keys,
 * not the login, the name or words of this product, which count for nothing.
 * @throws CatalogueError that says what to change
 */
export const requireGoodPassword = async (password: string, context: readonly string[]): Promise<void> => {
  const length = [...password.normalize('NFKC')].length;
  if (length < PASSWORD_MIN)
    throw new CatalogueError(
      `Use at least ${PASSWORD_MIN} characters: a few words that you can remember are enough.`,
    );
  if (length > PASSWORD_MAX) throw new CatalogueError(`Use at most ${PASSWORD_MAX} characters.`);
  const words = [...context.flatMap((text) => text.toLowerCase().split(/[^\p{L}\p{N}]+/u)), ...PRODUCT_WORDS]
    .filter((word) => word.length >= WORD_MIN)
    .sort((one, other) => other.length - one.length);
  let rest = password.toLowerCase();
  for (const word of words) rest = rest.replaceAll(word, ' ');
  guesser ??= createGuesser();
  const { score } = (await guesser).check(rest.slice(0, GUESSED_MAX), [...context, ...words]);
  if (score < SCORE_MIN)
    throw new CatalogueError(
      'This password is easy to guess: it is common, repeats itself or contains your name.',
    );
};
