import type { WrappedKey } from '#db/schema/applications.ts';
import { isKeyError, KeyError } from '#src/sealing/errors.ts';
import { nameRecord, type SealedRecord } from '#src/sealing/sealed-value.ts';

/** One key-encryption key, wherever it lives: in this process, or in a key management service. */
export type KeyProvider = {
  /** Stored beside everything this key wraps. */
  readonly key_id: string;
  /** Wrap a data key (32 bytes) for one record. @throws KeyError `key_service` */
  wrap: (dataKey: Uint8Array, record: SealedRecord) => Promise<Uint8Array>;
  /** The reverse, for the same record. @throws KeyError `does_not_open`, `unknown_version` or `key_service` */
  unwrap: (wrapped: Uint8Array, record: SealedRecord) => Promise<Uint8Array>;
};

/** The keys that a process holds. */
export type KeyRing = {
  /** KYC records: the first seals, all of them open. Empty when there is no key at all. */
  readonly records: readonly KeyProvider[];
  /**
   * Access tokens: each of these seals, so that an application's token outlives a mistake with the KYC keys.
   * What opens them is every key there is.
   */
  readonly tokens: readonly KeyProvider[];
};

/** Wrap a data key by each of the given keys. @throws KeyError `no_key` when none is given. */
export const wrapDataKey = async (
  providers: readonly KeyProvider[],
  dataKey: Uint8Array,
  record: SealedRecord,
): Promise<WrappedKey[]> => {
  if (providers.length === 0) {
    throw new KeyError(
      'no_key',
      `There is no key to seal ${nameRecord(record)} under: set ENCRYPTION_KEYS (on the embedded database a CATALOGUE_HOME that can be written will do).`,
    );
  }
  return Promise.all(
    providers.map(async (provider) => ({
      key_id: provider.key_id,
      wrapped: Buffer.from(await provider.wrap(dataKey, record)).toString('base64'),
    })),
  );
};

/**
 * Unwrap a data key by whichever of its wraps opens. Keys are chosen by id, never by trial; a wrap that fails
 * gives way to the next.
 * @throws KeyError `unknown_key` when no wrap is by a key of `providers`, else what the last wrap failed with
 */
export const unwrapDataKey = async (
  providers: readonly KeyProvider[],
  wraps: readonly WrappedKey[],
  record: SealedRecord,
): Promise<Uint8Array> => {
  let failure: KeyError | undefined;
  for (const { key_id, wrapped } of wraps) {
    const provider = providers.find((candidate) => candidate.key_id === key_id);
    if (provider === undefined) continue;
    try {
      return await provider.unwrap(Buffer.from(wrapped, 'base64'), record);
    } catch (error) {
      if (!isKeyError(error)) throw error;
      failure = error;
    }
  }
  if (failure !== undefined) throw failure;
  const needed = wraps.map((wrap) => wrap.key_id).join(' or ') || 'none';
  const held = [...new Set(providers.map((provider) => provider.key_id))].join(', ') || 'none';
  throw new KeyError(
    'unknown_key',
    `${nameRecord(record)} is sealed under key ${needed}, which this process does not hold (it holds: ${held}). See ENCRYPTION_KEYS.`,
  );
};
