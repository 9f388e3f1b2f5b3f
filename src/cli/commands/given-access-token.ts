import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { SealedAccessToken } from '#db/queries/applications.ts';
import type { CommandContext } from '#src/cli/kit/context.ts';
import { UsageError } from '#src/errors.ts';
import type { AddressedApplication } from '#src/sealing/access-token.ts';

const TOKEN_MAX = 8_192;
/** Bearer tokens (RFC 6750), and other visible ASCII that some servers issue. */
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/** A file, stdin or a variable: an argument would show the token in the process list. */
export const TOKEN_FILE = ['--access-token-file <file>', 'file with its bearer token ("-": stdin)'] as const;
export const TOKEN_ENV = ['--access-token-env <variable>', 'variable with its bearer token'] as const;
type TokenOptions = { accessTokenFile?: string; accessTokenEnv?: string };

const readSource = async (
  { env, out }: CommandContext,
  { accessTokenFile, accessTokenEnv }: TokenOptions,
): Promise<string | undefined> => {
  if (accessTokenFile !== undefined && accessTokenEnv !== undefined)
    throw new UsageError('Give either --access-token-file or --access-token-env, not both.');
  if (accessTokenFile === '-') return text(out.stdio.stdin);
  if (accessTokenFile !== undefined) {
    try {
      return await readFile(accessTokenFile, 'utf8');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new UsageError(`Cannot read --access-token-file ${accessTokenFile} (${code}).`, { cause: error });
    }
  }
  if (accessTokenEnv === undefined) return undefined;
  const value = env[accessTokenEnv] ?? '';
  if (value === '') throw new UsageError(`--access-token-env: ${accessTokenEnv} is not set.`);
  return value;
};

/** Reads the access token that the options name. @returns undefined when no option names one */
export const readGivenToken = async (
  context: CommandContext,
  options: TokenOptions,
): Promise<string | undefined> => {
  const token = (await readSource(context, options))?.trim();
  if (token === undefined || (token.length <= TOKEN_MAX && VISIBLE_ASCII.test(token))) return token;
  throw new UsageError('The access token must be one line of visible ASCII characters, without spaces.');
};

/** Seals an access token for an application and the origins of its webhooks. */
export const sealToken = async (
  { config, openKeys, out }: CommandContext,
  application: AddressedApplication,
  token: string,
): Promise<SealedAccessToken> => {
  const { application_id } = application;
  const { sealAccessToken } = await import('#src/sealing/access-token.ts');
  const keys = await openKeys();
  // Without ENCRYPTION_KEYS only the key of this installation is left, which the workers of a fleet do not have.
  if (keys.records.length === 0) {
    out.note(
      `warning: ENCRYPTION_KEYS is not set here: the access token is sealed only with the key in ${join(config.home, 'keys')}, and only processes with this CATALOGUE_HOME can call ${application_id}. Set ENCRYPTION_KEYS to the value that the workers have, then give the token again (npx catalogue app update ${application_id} --access-token-file …) or run npx catalogue kyc reseal on this machine.`,
    );
  }
  return sealAccessToken(keys, application, token);
};

/**
 * Seals the token that an application keeps when its webhooks change.
 * @returns undefined when their origins stay the same
 * @throws UsageError when there is a new origin: its token is sent only where it was given for
 */
export const resealKeptToken = async (
  context: CommandContext,
  before: AddressedApplication & SealedAccessToken,
  after: AddressedApplication,
): Promise<SealedAccessToken | undefined> => {
  const { openAccessToken, originsOf } = await import('#src/sealing/access-token.ts');
  const [had, has] = [originsOf(before), originsOf(after)];
  const added = has.filter((origin) => !had.includes(origin));
  if (added.length > 0) {
    throw new UsageError(
      `The access token of ${after.application_id} was not given for ${added.join(', ')}: give the token for the new address with --access-token-file or --access-token-env.`,
    );
  }
  if (has.length === had.length) return undefined;
  return sealToken(context, after, await openAccessToken(await context.openKeys(), before));
};
