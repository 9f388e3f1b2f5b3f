import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openKycRecord, sealKycRecord } from '#src/kyc/record.ts';
import { openAccessToken, sealAccessToken } from '#src/sealing/access-token.ts';
import { decrypt, encrypt, NONCE_BYTES } from '#src/sealing/aes-gcm.ts';
import { awsKmsKey } from '#src/sealing/aws-kms.ts';
import { openEventSecrets, sealNewEventSecret } from '#src/sealing/event-secret.ts';
import { localKey, unwrapDataKey, wrapDataKey } from '#src/sealing/key-provider.ts';
import { openKeyRing } from '#src/sealing/key-ring.ts';
import { type RawServer, startRawServer } from '#test/support/application-server.ts';
import { aHome, keyBytes, keyErrorOf, PLANTED } from '#test/support/kyc.ts';

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
let trouble: { status: number; type: string } | 'silence' | 'no end' | '10 MiB' | 'no bytes' | undefined;
/** The policy of the caller; absent: everything is allowed. */
let policy: Policy | undefined;

type Policy = {
  Statement: {
    Effect: 'Allow';
    Action: string;
    Resource: string;
    Condition: { StringEquals: Record<string, string | string[]> };
  }[];
};
const isAllowed = (target: string, { KeyId, EncryptionContext }: KmsRequest): boolean =>
  policy === undefined ||
  policy.Statement.some(
    ({ Action, Resource, Condition }) =>
      Action === target.replace('TrentService.', 'kms:') &&
      Resource === KeyId &&
      Object.entries(Condition.StringEquals).every(([name, values]) =>
        [values].flat().includes(EncryptionContext[name.replace('kms:EncryptionContext:', '')] ?? ''),
      ),
  );

const contextBytes = (context: Record<string, string>) =>
  Buffer.from(JSON.stringify(Object.entries(context).sort()));
const keyOf = (arn: string) => createHash('sha256').update(arn).digest();

const answerKms = (target: string, request: KmsRequest): object | string => {
  if (!isAllowed(target, request)) return 'AccessDeniedException';
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
    if (trouble === 'no end') {
      response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
      const drip = setInterval(() => response.write(' '), 100);
      response.on('close', () => clearInterval(drip));
      return;
    }
    if (trouble === '10 MiB') return void response.end(Buffer.alloc(10 * 1024 * 1024, ' '));
    const failure = typeof trouble === 'object' ? trouble : undefined;
    const answer = trouble === 'no bytes' ? {} : (failure?.type ?? answerKms(target, body));
    const status = failure?.status ?? (typeof answer === 'string' ? 400 : 200);
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
    const expectClosed = async (arn: string, record: typeof RECORD) =>
      expect(await keyErrorOf(() => kmsKey(arn).unwrap(wrapped, record))).toEqual({
        code: 'does_not_open',
        message: `The data key of the row ${record.record_id} of kyc_records does not open under ${arn}.`,
      });
    await expectClosed(ARN, { ...RECORD, record_id: 'bolt/r1' });
    await expectClosed(OTHER_ARN, RECORD);
    wrapped[40] = (wrapped[40] as number) ^ 1;
    await expectClosed(ARN, RECORD);
  });

  it.each([
    [400, 'AccessDeniedException'],
    [400, 'DisabledException'],
    [400, 'ThrottlingException'],
    [500, 'KMSInternalException'],
    [500, 'a secret\u001b[31m', 'unknown'],
  ])('that answers %i %j fails for now, and is not repeated', async (status, type, said = type) => {
    const wrap = () => kmsKey().wrap(keyBytes('data'), RECORD);
    const message = `AWS KMS did not serve ${ARN} for the row acme/r1 of kyc_records: ${said}.`;
    expect(await keyErrorOf(() => during({ status, type }, wrap))).toEqual({ code: 'key_service', message });
  });

  it('that answers without bytes fails for the time being', async () => {
    const answer = () => during('no bytes', () => kmsKey().wrap(keyBytes('data'), RECORD));
    expect(await keyErrorOf(answer)).toEqual({
      code: 'key_service',
      message: `AWS KMS returned no bytes for the row acme/r1 of kyc_records under ${ARN}.`,
    });
  });

  it('that does not respond, or is not there, fails within seconds', async () => {
    expect(
      (await keyErrorOf(() => during('silence', () => kmsKey().wrap(keyBytes('data'), RECORD)))).code,
    ).toBe('key_service');
    const nowhere = awsKmsKey(ARN, { ...CONFIG, endpoint: 'http://127.0.0.1:1', maxAttempts: 1 });
    expect(await keyErrorOf(() => nowhere.wrap(keyBytes('data'), RECORD))).toEqual({
      code: 'key_service',
      message: `AWS KMS did not serve ${ARN} for the row acme/r1 of kyc_records: ECONNREFUSED.`,
    });
  });

  it('whose response never ends fails in time', async () => {
    const key = awsKmsKey(ARN, { ...CONFIG, endpoint: kms.url }, 500);
    const error = await keyErrorOf(() => during('no end', () => key.unwrap(keyBytes('data'), RECORD)));
    expect(error).toMatchObject({
      code: 'key_service',
      message: expect.stringMatching(/AbortError|TimeoutError/),
    });
  });

  it('whose response is larger than any of KMS fails', async () => {
    expect(await keyErrorOf(() => during('10 MiB', () => kmsKey().wrap(keyBytes('data'), RECORD)))).toEqual({
      code: 'key_service',
      message: `AWS KMS did not serve ${ARN} for the row acme/r1 of kyc_records: Error.`,
    });
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

  it('with the policy that docs/kyc.md gives to workers seals records, opens tokens and event secrets, and opens no record', async () => {
    const [, document = ''] = /```json\n(.*?)```/s.exec(await readFile('docs/kyc.md', 'utf8')) ?? [];
    const keys = { records: [kmsKey()], tokens: [kmsKey()] };
    const { cp_id: _cp_id, ...fields } = PLANTED;
    const acme = {
      application_id: 'acme',
      query_game_list_webhook: 'https://acme.example/list',
      query_game_detail_webhook: 'https://acme.example/detail',
      query_cp_kyc_webhook: 'https://acme.example/kyc',
    };
    const fingerprint = { table: 'kyc_keys', record_id: 'fingerprint' };
    const token = await sealAccessToken(keys, acme, 'a-token');
    const address = { application_id: 'acme', url: 'https://acme.example/events' };
    const event = await sealNewEventSecret(keys, address);
    const fingerprintKey = await wrapDataKey(keys.records, keyBytes('fingerprint'), fingerprint);
    policy = JSON.parse(document.replaceAll('KEY_ARN', ARN));
    try {
      expect(await openAccessToken(keys, { ...acme, ...token })).toBe('a-token');
      expect(await openEventSecrets(keys, { ...address, former_secret: null, ...event.sealed })).toEqual([
        event.secret,
      ]);
      expect(await unwrapDataKey(keys.records, fingerprintKey, fingerprint)).toHaveLength(32);
      const sealed = { ...(await sealKycRecord(keys, 'acme', fields)), application_id: 'acme' };
      expect(await keyErrorOf(() => openKycRecord(keys, sealed))).toEqual({
        code: 'key_service',
        message: expect.stringContaining('AccessDeniedException'),
      });
      expect((await keyErrorOf(() => sealAccessToken(keys, acme, 'another'))).code).toBe('key_service');
      expect((await keyErrorOf(() => sealNewEventSecret(keys, address))).code).toBe('key_service');
      policy = undefined;
      expect(await openKycRecord(keys, sealed)).toEqual(fields);
    } finally {
      policy = undefined;
    }
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
