import { DecryptCommand, EncryptCommand, KMSClient, type KMSClientConfig } from '@aws-sdk/client-kms';
import { coerceError } from '#src/errors.ts';
import { KEY_BYTES } from '#src/sealing/aes-gcm.ts';
import { KeyError } from '#src/sealing/errors.ts';
import type { KeyProvider } from '#src/sealing/key-provider.ts';
import { nameRecord, type SealedRecord } from '#src/sealing/sealed-value.ts';

/** KMS's words for: this ciphertext was not made by this key for this encryption context. */
const DOES_NOT_OPEN: ReadonlySet<string> = new Set(['InvalidCiphertextException', 'IncorrectKeyException']);

/** What waits for KMS is short with it, and tried again later. */
const LIMITS = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 2_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
};

/**
 * A key-encryption key in AWS KMS, which never leaves it. The encryption context is the record, so that a
 * wrapped key moved to another record does not open. Region: that of the ARN. Credentials and proxies: the AWS
 * client's own ways.
 * @param arn of a key or an alias
 * @param config for tests: another endpoint
 */
export const awsKmsKey = (arn: string, config: KMSClientConfig = {}): KeyProvider => {
  const client = new KMSClient({ region: arn.split(':')[3] as string, ...LIMITS, ...config });
  const context = ({ table, record_id }: SealedRecord) => ({
    KeyId: arn,
    EncryptionContext: { table, record_id },
  });
  const failed = (thrown: unknown, record: SealedRecord): KeyError => {
    // The name alone: a message of KMS may quote what was sent.
    const { name } = coerceError(thrown);
    return DOES_NOT_OPEN.has(name)
      ? new KeyError('does_not_open', `The data key of ${nameRecord(record)} does not open under ${arn}.`)
      : new KeyError('key_service', `AWS KMS did not serve ${arn} for ${nameRecord(record)}: ${name}.`);
  };
  const bytes = (answer: Uint8Array | undefined, record: SealedRecord): Uint8Array => {
    if (answer !== undefined) return answer;
    throw new KeyError('key_service', `AWS KMS answered nothing for ${nameRecord(record)} under ${arn}.`);
  };
  return {
    key_id: `aws-kms:${arn}`,
    wrap: async (dataKey, record) => {
      const answer = await client
        .send(new EncryptCommand({ ...context(record), Plaintext: dataKey }))
        .catch((thrown) => {
          throw failed(thrown, record);
        });
      return bytes(answer.CiphertextBlob, record);
    },
    unwrap: async (wrapped, record) => {
      const answer = await client
        .send(new DecryptCommand({ ...context(record), CiphertextBlob: wrapped }))
        .catch((thrown) => {
          throw failed(thrown, record);
        });
      const dataKey = bytes(answer.Plaintext, record);
      if (dataKey.length === KEY_BYTES) return dataKey;
      throw new KeyError(
        'does_not_open',
        `${arn} opens the data key of ${nameRecord(record)}, and it is none.`,
      );
    },
  };
};
