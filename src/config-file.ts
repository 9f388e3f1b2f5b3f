/** The file `.env` of the working directory, which every command reads. */
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { closest, distance } from 'fastest-levenshtein';
import { SETTINGS } from '#src/config.ts';
import { UsageError } from '#src/errors.ts';

/** Reads the file. An editor of Windows begins it with a byte order mark, which is no part of a name. */
const readEnvFile = (): NodeJS.Dict<string> => {
  try {
    return parseEnv(new TextDecoder('utf-8', { fatal: true }).decode(readFileSync('.env')));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return {};
    throw new UsageError(`The file .env of this directory cannot be read (${code}).`);
  }
};

/** A name that differs from that of a setting in at most this many characters is taken for a slip of it. */
const SLIPS_MAX = 2;
/** Fewest characters of such a setting: `APP_PORT` of another program is near `API_PORT`. */
const SETTING_MIN = 9;
const SLIPPED = SETTINGS.filter((setting) => setting.length >= SETTING_MIN);

/** Finds the setting that a name is meant for. None if it is a setting, or far from each: Compose has its own in the same file. */
const findMeant = (name: string): string | undefined => {
  const setting = name.replace(/_FILE$/, '');
  const meant = closest(setting, SLIPPED);
  return setting === meant || distance(setting, meant) > SLIPS_MAX ? undefined : meant;
};

/**
 * Returns the environment with `.env` of the working directory. Variables of the environment take precedence.
 * @throws UsageError if the file cannot be read, or has a slip of a setting, which would take its default
 */
export const loadEnvironment = (): NodeJS.ProcessEnv => {
  const file = readEnvFile();
  Object.assign(process.env, { ...file, ...process.env });
  for (const name of Object.keys(file)) {
    const meant = findMeant(name);
    if (meant !== undefined && (process.env[meant] ?? process.env[`${meant}_FILE`]) === undefined)
      throw new UsageError(`${name} in .env is no setting: did you mean ${meant}?`);
  }
  return process.env;
};
