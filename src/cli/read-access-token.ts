import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { readSecretVariable } from '#src/config.ts';
import { UsageError } from '#src/errors.ts';

const TOKEN_MAX = 8_192;
/** What a bearer token may hold (RFC 6750, b64token), and any other visible ASCII some servers hand out. */
const VISIBLE = /^[\x21-\x7e]+$/;

const readFrom = async (options: {
  accessTokenFile?: string;
  accessTokenEnv?: string;
}): Promise<string | undefined> => {
  const { accessTokenFile, accessTokenEnv } = options;
  if (accessTokenFile !== undefined && accessTokenEnv !== undefined) {
    throw new UsageError('Give either --access-token-file or --access-token-env, not both.');
  }
  if (accessTokenFile === '-') return text(process.stdin);
  if (accessTokenFile !== undefined) {
    try {
      return await readFile(accessTokenFile, 'utf8');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new UsageError(`Can't read --access-token-file ${accessTokenFile} (${code}).`, { cause: error });
    }
  }
  if (accessTokenEnv === undefined) return undefined;
  const value = readSecretVariable(accessTokenEnv);
  if (value === undefined) throw new UsageError(`--access-token-env: ${accessTokenEnv} is not set.`);
  return value;
};

/**
 * The application's access token, from a file, stdin or a variable; never from an argument, which a process
 * list would show. @returns undefined when neither option was given
 */
export const readAccessToken = async (options: {
  accessTokenFile?: string;
  accessTokenEnv?: string;
}): Promise<string | undefined> => {
  const token = (await readFrom(options))?.trim();
  if (token === undefined) return undefined;
  if (token.length <= TOKEN_MAX && VISIBLE.test(token)) return token;
  throw new UsageError('The access token must be one line of visible ASCII characters, without spaces.');
};
