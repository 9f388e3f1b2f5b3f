import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { readSecretVariable } from '#src/config.ts';
import { UsageError } from '#src/errors.ts';

const TOKEN_MAX = 8_192;
/** Bearer tokens (RFC 6750), and other visible ASCII that some servers issue. */
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

export type AccessTokenOptions = { accessTokenFile?: string; accessTokenEnv?: string };

const readSource = async ({
  accessTokenFile,
  accessTokenEnv,
}: AccessTokenOptions): Promise<string | undefined> => {
  if (accessTokenFile !== undefined && accessTokenEnv !== undefined)
    throw new UsageError('Give either --access-token-file or --access-token-env, not both.');
  if (accessTokenFile === '-') return text(process.stdin);
  if (accessTokenFile !== undefined) {
    try {
      return await readFile(accessTokenFile, 'utf8');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new UsageError(`Cannot read --access-token-file ${accessTokenFile} (${code}).`, { cause: error });
    }
  }
  if (accessTokenEnv === undefined) return undefined;
  const value = readSecretVariable(accessTokenEnv);
  if (value === undefined) throw new UsageError(`--access-token-env: ${accessTokenEnv} is not set.`);
  return value;
};

/**
 * Reads an application's access token from a file, stdin or a variable. An argument would show it in the process list.
 * @returns undefined when neither option is given
 */
export const readAccessToken = async (options: AccessTokenOptions): Promise<string | undefined> => {
  const token = (await readSource(options))?.trim();
  if (token === undefined || (token.length <= TOKEN_MAX && VISIBLE_ASCII.test(token))) return token;
  throw new UsageError('The access token must be one line of visible ASCII characters, without spaces.');
};
