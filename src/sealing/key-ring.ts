import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '#src/errors.ts';
import { readOrCreateFile } from '#src/lib/read-or-create-file.ts';
import { KEY_BYTES } from '#src/sealing/aes-gcm.ts';
import { type KeyProvider, type KeyRing, localKey } from '#src/sealing/key-provider.ts';

/** One entry of ENCRYPTION_KEYS. */
export type KeyEntry =
  | { kind: 'local'; key_id: string; key: Uint8Array }
  | { kind: 'aws-kms'; key_id: string; arn: string };

const AWS_KMS = 'aws-kms';
const KEY_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** 32 bytes in canonical base64. Checked, because `Buffer.from` accepts any text. */
const KEY_BASE64 = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;
const KMS_ARN = /^arn:[a-z-]+:kms:[a-z0-9-]+:\d{12}:(key|alias)\/[A-Za-z0-9/_-]+$/;

/** Prefix of the ids of installation keys. */
const INSTALLATION = 'home-';

const parseEntry = (entry: string, position: number): KeyEntry => {
  const colon = entry.indexOf(':');
  const id = colon === -1 ? '' : entry.slice(0, colon);
  const rest = entry.slice(colon + 1);
  // A malformed entry may be key material, so messages give its position alone.
  const refuse = (problem: string) => new UsageError(`ENCRYPTION_KEYS: ${problem}`);
  if (id === AWS_KMS) {
    if (KMS_ARN.test(rest)) return { kind: 'aws-kms', key_id: entry, arn: rest };
    throw refuse(`entry ${position} is not aws-kms:arn:aws:kms:REGION:ACCOUNT:key/ID.`);
  }
  if (!KEY_ID.test(id)) throw refuse(`entry ${position} is not ID:BASE64, as in k1:….`);
  if (KEY_BASE64.test(rest)) return { kind: 'local', key_id: id, key: Buffer.from(rest, 'base64') };
  throw refuse(
    `the key of entry ${position} is not ${KEY_BYTES} bytes in base64. Make one with: openssl rand -base64 ${KEY_BYTES}`,
  );
};

/**
 * Parses `k2:BASE64,k1:BASE64`: the first key seals, all open. An entry may also be `aws-kms:arn:aws:kms:…`.
 * @throws UsageError that gives the position of the entry, never its content
 */
export const parseEncryptionKeys = (text: string): KeyEntry[] => {
  const ids = new Set<string>();
  return text.split(',').map((part, index) => {
    const entry = parseEntry(part.trim(), index + 1);
    if (ids.has(entry.key_id))
      throw new UsageError(`ENCRYPTION_KEYS: entry ${index + 1} has the id of an earlier one.`);
    ids.add(entry.key_id);
    return entry;
  });
};

const openEntry = async (entry: KeyEntry): Promise<KeyProvider> => {
  if (entry.kind === 'local') return localKey(entry.key_id, entry.key);
  // Loaded on demand, because the AWS client is large.
  const { awsKmsKey } = await import('#src/sealing/aws-kms.ts');
  return awsKmsKey(entry.arn);
};

/**
 * Opens the installation key, `home-<8 hex>`, in `<home>/keys` (mode 0600). The first process creates the file;
 * all others read it.
 * @returns undefined when the file is missing or unreadable and can't be created
 * @throws UsageError when the file contains anything else
 */
const openInstallationKey = async (home: string): Promise<KeyProvider | undefined> => {
  const file = join(home, 'keys');
  const text = await readOrCreateFile(file, async () => {
    await mkdir(home, { recursive: true, mode: 0o700 });
    return `${INSTALLATION}${randomBytes(4).toString('hex')}:${randomBytes(KEY_BYTES).toString('base64')}\n`;
  }).catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const [entry, ...others] = parseEncryptionKeys(text);
    if (entry?.kind === 'local' && others.length === 0) return localKey(entry.key_id, entry.key);
  } catch {
    // Reported below with the name of the file, not of ENCRYPTION_KEYS.
  }
  throw new UsageError(`${file} does not contain the one key that was written there: restore the file.`);
};

/**
 * Opens the keys of this process: those of ENCRYPTION_KEYS, then the installation key. The installation key opens what it
 * sealed before ENCRYPTION_KEYS was set, until `kyc reseal`, and seals only while there are no others.
 *
 * With DATABASE_URL and without ENCRYPTION_KEYS there is no key for records, because one machine of a fleet, or a
 * container, must not have the only one.
 * @param options.home CATALOGUE_HOME
 * @throws UsageError when ENCRYPTION_KEYS or the file of the installation key is malformed; a missing or wrong key fails
 * when it is used
 */
export const openKeyRing = async (options: {
  encryptionKeys: string | undefined;
  home: string;
  databaseUrl: string | undefined;
}): Promise<KeyRing> => {
  const entries = options.encryptionKeys === undefined ? [] : parseEncryptionKeys(options.encryptionKeys);
  const listed = await Promise.all(entries.map(openEntry));
  const found = await openInstallationKey(options.home);
  const isListed = listed.some((key) => key.key_id === found?.key_id);
  const installation = found === undefined || isListed ? [] : [found];
  const noKey = listed.length === 0 && options.databaseUrl !== undefined;
  return {
    records: noKey ? [] : [...listed, ...installation],
    tokens: listed.length > 0 ? listed.slice(0, 1) : installation,
  };
};
