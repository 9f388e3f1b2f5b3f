import { DecryptCommand, EncryptCommand, KMSClient, type KMSClientConfig } from '@aws-sdk/client-kms';
import { coerceError } from '#src/errors.ts';
import { BEFORE_ALL_OTHERS, boundResponse, codeOfService } from '#src/lib/bound-response.ts';
import { KeyError } from '#src/sealing/errors.ts';
import type { KeyProvider } from '#src/sealing/key-provider.ts';
import { nameRecord, type SealedRecord } from '#src/sealing/sealed-value.ts';

/** KMS's errors for a ciphertext of another key or another encryption context. */
const DOES_NOT_OPEN: ReadonlySet<string> = new Set(['InvalidCiphertextException', 'IncorrectKeyException']);

/** Short, because the job that needs the key is retried later. */
const LIMITS = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 2_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
};

/** A ciphertext of KMS has at most 6 KB. */
const RESPONSE_MAX_BYTES = 100_000;

/** One call with its second attempt. The limits above do not end a response that comes slowly. */
const CALL_MS = 10_000;

/**
 * A key-encryption key in AWS KMS, which it never leaves. The encryption context is the record, so a wrapped
 * key does not open for another record. The region is that of the ARN; credentials and proxies are the AWS
 * client's defaults.
 * @param arn of a key or an alias
 * @param config for tests: another endpoint
 */
export const awsKmsKey = (arn: string, config: KMSClientConfig = {}, callMs = CALL_MS): KeyProvider => {
  const inTime = () => ({ abortSignal: AbortSignal.timeout(callMs) });
  const client = new KMSClient({ region: arn.split(':')[3] as string, ...LIMITS, ...config });
  client.middlewareStack.add(boundResponse(RESPONSE_MAX_BYTES), BEFORE_ALL_OTHERS);
  const inputFor = ({ table, record_id }: SealedRecord) => ({
    KeyId: arn,
    EncryptionContext: { table, record_id },
  });
  const requireBytes = async (response: Promise<Uint8Array | undefined>, record: SealedRecord) => {
    const bytes = await response.catch((thrown) => {
      const error = coerceError(thrown);
      throw DOES_NOT_OPEN.has(error.name)
        ? new KeyError(
            'does_not_open',
            `The data key of the ${nameRecord(record)} does not open under ${arn}.`,
          )
        : new KeyError(
            'key_service',
            `AWS KMS did not serve ${arn} for the ${nameRecord(record)}: ${codeOfService(error)}.`,
          );
    });
    if (bytes !== undefined) return bytes;
    throw new KeyError(
      'key_service',
      `AWS KMS returned no bytes for the ${nameRecord(record)} under ${arn}.`,
    );
  };
  return {
    key_id: `aws-kms:${arn}`,
    wrap: (dataKey, record) => {
      const command = new EncryptCommand({ ...inputFor(record), Plaintext: dataKey });
      return requireBytes(
        client.send(command, inTime()).then(({ CiphertextBlob }) => CiphertextBlob),
        record,
      );
    },
    unwrap: (wrapped, record) => {
      const command = new DecryptCommand({ ...inputFor(record), CiphertextBlob: wrapped });
      return requireBytes(
        client.send(command, inTime()).then(({ Plaintext }) => Plaintext),
        record,
      );
    },
  };
};
