import { join } from 'node:path';
import type { CommandContext } from '#src/cli/kit/context.ts';
import { readInput } from '#src/cli/kit/read-input.ts';
import { UsageError } from '#src/errors.ts';

/** A file, stdin or a variable, because an argument would show the token in the process list. */
export const TOKEN_FILE = ['--access-token-file <file>', 'file with its bearer token ("-": stdin)'] as const;
export const TOKEN_ENV = ['--access-token-env <variable>', 'variable with its bearer token'] as const;
type TokenOptions = { accessTokenFile?: string; accessTokenEnv?: string };

const readSource = async (
  { env, out }: CommandContext,
  { accessTokenFile, accessTokenEnv }: TokenOptions,
): Promise<string | undefined> => {
  if (accessTokenFile !== undefined && accessTokenEnv !== undefined)
    throw new UsageError('Give either --access-token-file or --access-token-env, not both.');
  if (accessTokenFile !== undefined) return readInput(accessTokenFile, out.stdio.stdin);
  if (accessTokenEnv === undefined) return undefined;
  const value = env[accessTokenEnv] ?? '';
  if (value === '') throw new UsageError(`--access-token-env: ${accessTokenEnv} is not set.`);
  return value;
};

/** Reads the access token that the options name. @returns undefined when no option names one */
export const readGivenToken = async (
  context: CommandContext,
  options: TokenOptions,
): Promise<string | undefined> => (await readSource(context, options))?.trim();

/** Warns when a token is sealed without ENCRYPTION_KEYS, because only processes with the key of this installation can open it. */
export const warnOfInstallationKey = async (
  { config, openKeys, out }: CommandContext,
  application_id: string,
): Promise<void> => {
  if ((await openKeys()).records.length > 0) return;
  out.note(
    `warning: ENCRYPTION_KEYS is not set here: the access token is sealed only with the key in ${join(config.home, 'keys')}, and only processes with this CATALOGUE_HOME can call ${application_id}. Set ENCRYPTION_KEYS to the value that the workers have, then give the token again (npx catalogue app update ${application_id} --access-token-file …) or run npx catalogue kyc reseal on this machine.`,
  );
};
