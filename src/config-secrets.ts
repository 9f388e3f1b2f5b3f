import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unescape as unescapeUrl } from 'node:querystring';

/** The platform's own variables that hold secrets. */
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

/** Secrets in the environment that others read: libraries, and Compose, whose settings are in the same `.env`. */
const OF_OTHERS =
  /^(AWS_(SECRET_ACCESS_KEY|SESSION_TOKEN|CONTAINER_AUTHORIZATION_TOKEN).*|(PG|POSTGRES_|REDIS_)PASSWORD.*|OTEL_EXPORTER_OTLP_.*HEADERS)$/;

/** Variables that name a file with a token, by which the AWS client opens keys and buckets. */
const TOKEN_FILES = /^AWS_(WEB_IDENTITY|CONTAINER_AUTHORIZATION)_TOKEN_FILE/;

/** Files of CATALOGUE_HOME with a key or a password. */
const SECRET_FILES = ['keys', 'postgres.json', 'instance.json'];

/** A shorter secret could be a part of any text. */
const PART_MIN = 8;

/** The value of a header, as it is written and as it is, and what follows its scheme: `x-key=a`, `authorization=Bearer%20a`. */
const secretsOfHeader = (header: string): string[] => {
  const written = header.slice(header.indexOf('=') + 1).trim();
  const value = unescapeUrl(written);
  return [written, value, value.slice(value.lastIndexOf(' ') + 1)];
};

/** The secrets in a setting: all of it, each key of a ring, those of headers, and the password of an address, likewise. */
const secretsIn = (name: string, value: string): string[] => {
  if (name === 'ENCRYPTION_KEYS') return value.split(',').map((entry) => entry.replace(/^[^:]*:/, '').trim());
  if (name.endsWith('HEADERS')) return [value, ...value.split(',').flatMap(secretsOfHeader)];
  const password = /:\/\/[^/?#@]*?:([^/?#@]+)@/.exec(value)?.[1];
  return password === undefined ? [value] : [value, password, unescapeUrl(password)];
};

/**
 * Is this text a secret of the platform in this environment or this home, or has it one as a part? No application gets it
 * as its token.
 */
export const isOwnSecret = (text: string, env: Record<string, string | undefined>, home: string): boolean => {
  const ofEnvironment = Object.entries(readSecretFiles(env, [])).flatMap(([name, value = '']) =>
    OWN.test(name) || OF_OTHERS.test(name) ? secretsIn(name, value.trim()) : [],
  );
  const files = [
    ...SECRET_FILES.map((name) => join(home, name)),
    ...Object.entries(env).flatMap(([name, path = '']) => (TOKEN_FILES.test(name) ? path : [])),
  ];
  const ofFiles = files.flatMap((path) => {
    try {
      return readFileSync(path, 'utf8').trim();
    } catch {
      return [];
    }
  });
  return [...ofEnvironment, ...ofFiles].some(
    (secret) => secret === text || (secret.length >= PART_MIN && text.includes(secret)),
  );
};
