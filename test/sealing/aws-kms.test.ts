import { createHash, randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openKycRecord, sealKycRecord } from '#src/kyc/record.ts';
import { decrypt, encrypt, NONCE_BYTES } from '#src/sealing/aes-gcm.ts';
import { awsKmsKey } from '#src/sealing/aws-kms.ts';
import { localKey, unwrapDataKey, wrapDataKey } from '#src/sealing/key-provider.ts';
import { openKeyRing } from '#src/sealing/key-ring.ts';
import { aHome, keyBytes, keyErrorOf, PLANTED } from '#test/kyc/support.ts';
import { type RawServer, startRawServer } from '#test/support/application-server.ts';

const ARN = 'arn:aws:kms:eu-central-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab';
const OTHER_ARN = ARN.replace('1234abcd', '9999abcd');
const RECORD = { table: 'kyc_records', record_id: 'acme/r1' };

type KmsRequest = {
  KeyId: string;
  EncryptionContext: Record<string, string>;
  Plaintext?: string;
  CiphertextBlob?: string;
};

/** KMS's wire protocol (AWS JSON 1.1) for Encrypt and Decrypt, over keys that are made from their ARN. */
let kms: RawServer;
let seen: { target: string; request: KmsRequest; authorization: string }[] = [];
let trouble: { status: number; type: string } | 'silence' | undefined;

const contextBytes = (context: Record<string, string>) =>
  Buffer.from(JSON.stringify(Object.entries(context).sort()));
const keyOf = (arn: string) => createHash('sha256').update(arn).digest();

const answerKms = (target: string, request: KmsRequest): object | string => {
  const key = keyOf(request.KeyId);
  const context = contextBytes(request.EncryptionContext);
  if (target === 'TrentService.Encrypt') {
    const nonce = randomBytes(NONCE_BYTES);
    const sealed = encrypt(key, nonce, context, Buffer.from(request.Plaintext ?? '', 'base64'));
    const blob = Buffer.concat([createHash('sha1').update(request.KeyId).digest(), nonce, sealed]).toString(
      'base64',
    );
    return { CiphertextBlob: blob, KeyId: request.KeyId, EncryptionAlgorithm: 'SYMMETRIC_DEFAULT' };
  }
  const blob = Buffer.from(request.CiphertextBlob ?? '', 'base64');
  if (!blob.subarray(0, 20).equals(createHash('sha1').update(request.KeyId).digest()))
    return 'IncorrectKeyException';
  const opened = decrypt(key, blob.subarray(20, 32), context, blob.subarray(32));
  if (opened === undefined) return 'InvalidCiphertextException';
  return {
    Plaintext: Buffer.from(opened).toString('base64'),
    KeyId: request.KeyId,
    EncryptionAlgorithm: 'SYMMETRIC_DEFAULT',
  };
};

beforeAll(async () => {
  kms = await startRawServer(async (request, response) => {
    const body = JSON.parse(await text(request)) as KmsRequest;
    const target = String(request.headers['x-amz-target']);
    seen.push({ target, request: body, authorization: String(request.headers.authorization) });
    if (trouble === 'silence') return;
    const answer = trouble === undefined ? answerKms(target, body) : trouble.type;
    const status = trouble?.status ?? (typeof answer === 'string' ? 400 : 200);
    const document =
      typeof answer === 'string' ? { __type: answer, message: `no: ${JSON.stringify(body)}` } : answer;
    response
      .writeHead(status, { 'content-type': 'application/x-amz-json-1.1' })
      .end(JSON.stringify(document));
  });
});
afterAll(() => kms.close());

const CONFIG = { credentials: { accessKeyId: 'AKIATEST', secretAccessKey: 'secret' } };
const kmsKey = (arn = ARN) => awsKmsKey(arn, { ...CONFIG, endpoint: kms.url, maxAttempts: 1 });

const during = async <T>(what: typeof trouble, work: () => Promise<T>): Promise<T> => {
  trouble = what;
  try {
    return await work();
  } finally {
    trouble = undefined;
  }
};

describe('a key in AWS KMS', () => {
  it('wraps and unwraps a data key for one record, in signed calls that name record and key', async () => {
    seen = [];
    const keys = [kmsKey()];
    const wraps = await wrapDataKey(keys, keyBytes('data'), RECORD);
    expect(wraps).toMatchObject([{ key_id: `aws-kms:${ARN}` }]);
    expect(Buffer.from(await unwrapDataKey(keys, wraps, RECORD))).toEqual(Buffer.from(keyBytes('data')));
    expect(seen.map(({ target }) => target)).toEqual(['TrentService.Encrypt', 'TrentService.Decrypt']);
    for (const { request, authorization } of seen) {
      expect(request).toMatchObject({ KeyId: ARN, EncryptionContext: RECORD });
      expect(authorization).toMatch(
        /^AWS4-HMAC-SHA256 Credential=AKIATEST\/\d{8}\/eu-central-1\/kms\/aws4_request/,
      );
    }
  });

  it('does not open what was wrapped for another record, by another key, or was changed', async () => {
    const [wrap] = await wrapDataKey([kmsKey()], keyBytes('data'), RECORD);
    const wrapped = Buffer.from(wrap?.wrapped ?? '', 'base64');
    const codeOf = async (work: () => unknown) => (await keyErrorOf(work)).code;
    expect(await codeOf(() => kmsKey().unwrap(wrapped, { ...RECORD, record_id: 'bolt/r1' }))).toBe(
      'does_not_open',
    );
    expect(await codeOf(() => kmsKey(OTHER_ARN).unwrap(wrapped, RECORD))).toBe('does_not_open');
    wrapped[40] = (wrapped[40] as number) ^ 1;
    expect(await codeOf(() => kmsKey().unwrap(wrapped, RECORD))).toBe('does_not_open');
  });

  it.each([
    [{ status: 400, type: 'AccessDeniedException' }],
    [{ status: 400, type: 'DisabledException' }],
    [{ status: 400, type: 'ThrottlingException' }],
    [{ status: 500, type: 'KMSInternalException' }],
  ])('that answers $type fails for the time being, and its message is not repeated', async (what) => {
    const { code, message } = await keyErrorOf(() =>
      during(what, () => kmsKey().wrap(keyBytes('data'), RECORD)),
    );
    expect(code).toBe('key_service');
    expect(message).toBe(`AWS KMS did not serve ${ARN} for kyc_records acme/r1: ${what.type}.`);
  });

  it('that does not answer, or is not there, fails within seconds', { timeout: 15_000 }, async () => {
    expect(
      (await keyErrorOf(() => during('silence', () => kmsKey().wrap(keyBytes('data'), RECORD)))).code,
    ).toBe('key_service');
    const nowhere = awsKmsKey(ARN, { ...CONFIG, endpoint: 'http://127.0.0.1:1', maxAttempts: 1 });
    expect((await keyErrorOf(() => nowhere.wrap(keyBytes('data'), RECORD))).code).toBe('key_service');
  });

  it('seals records, and takes over from a local key', async () => {
    const { cp_id: _cp_id, ...fields } = PLANTED;
    const keys = { records: [kmsKey(), localKey('k1', keyBytes('k1'))], tokens: [] };
    const sealed = { ...(await sealKycRecord(keys, 'acme', fields)), application_id: 'acme' };
    expect(await openKycRecord(keys, sealed)).toEqual(fields);
    const former = { records: keys.records.slice(1), tokens: [] };
    const old = { ...(await sealKycRecord(former, 'acme', fields)), application_id: 'acme' };
    expect(await openKycRecord(keys, old)).toEqual(fields);
    expect((await keyErrorOf(() => openKycRecord(former, sealed))).code).toBe('unknown_key');
  });

  it('is chosen by an entry of ENCRYPTION_KEYS', async () => {
    const ring = await openKeyRing({
      encryptionKeys: `aws-kms:${ARN}`,
      home: await aHome(),
      databaseUrl: undefined,
    });
    expect(ring.records[0]?.key_id).toBe(`aws-kms:${ARN}`);
  });
});
