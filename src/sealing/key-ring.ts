import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '#src/errors.ts';
import { KEY_BYTES } from '#src/sealing/aes-gcm.ts';
import type { KeyProvider, KeyRing } from '#src/sealing/key-provider.ts';
import { localKey } from '#src/sealing/local-key.ts';

/** One entry of ENCRYPTION_KEYS. */
export type KeyEntry =
  | { kind: 'local'; key_id: string; key: Uint8Array }
  | { kind: 'aws-kms'; key_id: string; arn: string };

const AWS_KMS = 'aws-kms';
const KEY_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** 32 bytes in canonical base64: `Buffer.from` would take anything. */
const KEY_BASE64 = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;
const KMS_ARN = /^arn:[a-z-]+:kms:[a-z0-9-]+:\d{12}:(key|alias)\/[A-Za-z0-9/_-]+$/;

/** Installations' own keys carry this in their id. */
const HOME = 'home-';
export const isHomeKeyId = (key_id: string): boolean => key_id.startsWith(HOME);

const parseEntry = (entry: string, position: number): KeyEntry => {
  const colon = entry.indexOf(':');
  const id = colon === -1 ? '' : entry.slice(0, colon);
  const rest = entry.slice(colon + 1);
  if (id === AWS_KMS) {
    if (KMS_ARN.test(rest)) return { kind: 'aws-kms', key_id: entry, arn: rest };
    throw new UsageError(
      `ENCRYPTION_KEYS: entry ${position} is not aws-kms:arn:aws:kms:REGION:ACCOUNT:key/ID.`,
    );
  }
  // An entry that is not understood may be key material as a whole: it is named by its position alone.
  if (!KEY_ID.test(id))
    throw new UsageError(`ENCRYPTION_KEYS: entry ${position} is not ID:BASE64, as in k1:….`);
  if (!KEY_BASE64.test(rest)) {
    throw new UsageError(
      `ENCRYPTION_KEYS: the key of entry ${position} is not ${KEY_BYTES} bytes in base64. Make one with: openssl rand -base64 ${KEY_BYTES}`,
    );
  }
  return { kind: 'local', key_id: id, key: Buffer.from(rest, 'base64') };
};

/**
 * Read `k2:BASE64,k1:BASE64`: the first key seals, the others still open. An entry may be
 * `aws-kms:arn:aws:kms:…` in place of a key.
 * @throws UsageError that names the entry by its position, never what it holds
 */
export const parseEncryptionKeys = (text: string): KeyEntry[] => {
  const entries = text.split(',').map((entry, index) => parseEntry(entry.trim(), index + 1));
  const twice = entries.findIndex(
    (entry, index) => entries.findIndex((other) => other.key_id === entry.key_id) < index,
  );
  if (twice !== -1) throw new UsageError(`ENCRYPTION_KEYS: entry ${twice + 1} has the id of an earlier one.`);
  return entries;
};

const openEntry = async (entry: KeyEntry): Promise<KeyProvider> => {
  if (entry.kind === 'local') return localKey(entry.key_id, entry.key);
  // Loaded only when chosen: its client is large.
  const { awsKmsKey } = await import('#src/sealing/aws-kms.ts');
  return awsKmsKey(entry.arn);
};

/**
 * The installation's own key, `home-<8 hex>`, in `<home>/keys` (mode 0600): made by the first process that
 * asks, whole or not at all, and read by all others.
 * @returns undefined when there is none and none can be written
 * @throws UsageError when the file holds anything else
 */
const openHomeKey = async (home: string): Promise<KeyProvider | undefined> => {
  const file = join(home, 'keys');
  const text = (await readIfThere(file)) ?? (await createHomeKey(home, file));
  if (text === undefined) return undefined;
  try {
    const [entry, ...others] = parseEncryptionKeys(text);
    if (entry?.kind === 'local' && others.length === 0) return localKey(entry.key_id, entry.key);
  } catch {
    // Said below, of the file: this is not ENCRYPTION_KEYS.
  }
  throw new UsageError(`${file} does not hold the one key that was written there: restore the file.`);
};

/** Not there, or not ours to read, is the same: there is no key for us. */
const readIfThere = async (file: string): Promise<string | undefined> => {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch {
    return undefined;
  }
};

const createHomeKey = async (home: string, file: string): Promise<string | undefined> => {
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    await mkdir(home, { recursive: true });
    const handle = await open(draft, 'wx', 0o600);
    try {
      const key_id = `${HOME}${randomBytes(4).toString('hex')}`;
      await handle.writeFile(`${key_id}:${randomBytes(KEY_BYTES).toString('base64')}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // A link, unlike a rename, never replaces the key of a process that was faster.
    await link(draft, file);
  } catch {
    // Another process was faster, or the home can't be written: what is there now decides.
  }
  await rm(draft, { force: true }).catch(() => {});
  return readIfThere(file);
};

/**
 * The keys of this process. With ENCRYPTION_KEYS: that ring. Without, on the embedded database: the installation's
 * own key, so that a single machine works without setting anything. Records that the home key sealed before
 * ENCRYPTION_KEYS was set still open, until `kyc reseal` moves them to the ring.
 *
 * With a database of its own (DATABASE_URL) and no ENCRYPTION_KEYS there is no key for records (design, section 7):
 * the home of one of many machines, or of a container, is no place to keep the only key to them.
 * @param options.home CATALOGUE_HOME
 * @throws UsageError when ENCRYPTION_KEYS is malformed; a missing or another key fails where it is used
 */
export const openKeyRing = async (options: {
  encryptionKeys: string | undefined;
  home: string;
  databaseUrl: string | undefined;
}): Promise<KeyRing> => {
  const entries = options.encryptionKeys === undefined ? [] : parseEncryptionKeys(options.encryptionKeys);
  const ring = await Promise.all(entries.map(openEntry));
  const home = await openHomeKey(options.home);
  const own = home === undefined || ring.some((key) => key.key_id === home.key_id) ? [] : [home];
  const noKey = ring.length === 0 && options.databaseUrl !== undefined;
  return { records: noKey ? [] : [...ring, ...own], tokens: [...ring.slice(0, 1), ...own] };
};
