import { readFileSync } from 'node:fs';

/** Variables that hold secrets of the platform, whatever an operator names theirs. */
const OWN = /^(DATABASE_URL|REDIS_URL$|ENCRYPTION_KEYS$|WEBHOOK_PROXY$|OIDC_CLIENT_SECRET$)/;

/** Variables that may be given as a file: `ENCRYPTION_KEYS_FILE=/run/secrets/keys`. */
const isSecret = (name: string): boolean => OWN.test(name) || /_(PASSWORD|SECRET)$/.test(name);

/** Replaces each `…_FILE` of a secret by the text of its file, without the white space around it. */
export const readSecretFiles = (
  present: Record<string, string | undefined>,
  problems: string[],
): Record<string, string | undefined> => {
  const read = { ...present };
  for (const [variable, path = ''] of Object.entries(present)) {
    const name = variable.replace(/_FILE$/, '');
    if (name === variable || !isSecret(name)) continue;
    if (present[name] !== undefined) problems.push(`${name} and ${variable} are both set: keep one`);
    try {
      read[name] = readFileSync(path, 'utf8').trim();
    } catch (error) {
      problems.push(`${variable}: its file cannot be read (${(error as NodeJS.ErrnoException).code})`);
    }
  }
  return read;
};

/** What libraries read of the platform's environment themselves. */
const OF_LIBRARIES = /^AWS_(SECRET_ACCESS_KEY|SESSION_TOKEN)$/;

/** Is this text a secret of the platform in this environment? No application gets one as its token. */
export const isOwnSecret = (text: string, env: Record<string, string | undefined>): boolean =>
  Object.entries(readSecretFiles(env, [])).some(
    ([name, value]) => (OWN.test(name) || OF_LIBRARIES.test(name)) && value === text,
  );
