import { createSecretKey } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KYC_SEALED_FIELDS } from '#src/contract/application.ts';
import { openKycRecord, sealKycRecord } from '#src/kyc/record.ts';
import { decrypt, encrypt } from '#src/sealing/aes-gcm.ts';
import { additionalData, openValue, type SealedPlace, sealValue } from '#src/sealing/sealed-value.ts';
import { keyBytes, keyErrorOf, ringOf } from '#test/support/kyc.ts';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const KEY = keyBytes('data key');
const PLACE: SealedPlace = { table: 'kyc_records', column: 'tax_id', record_id: 'acme/r1' };
const text = (value: string) => Buffer.from(value);

type WycheproofTest = {
  tcId: number;
  key: string;
  iv: string;
  aad: string;
  msg: string;
  ct: string;
  tag: string;
  result: 'valid' | 'invalid';
};
type WycheproofGroup = { keySize: number; ivSize: number; tagSize: number; tests: WycheproofTest[] };

const WYCHEPROOF = '../shared/data/wycheproof-aes-gcm.json';
const wycheproof = (): WycheproofTest[] =>
  (JSON.parse(readFileSync(WYCHEPROOF, 'utf8')).testGroups as WycheproofGroup[])
    .filter(({ keySize, ivSize, tagSize }) => keySize === 256 && ivSize === 96 && tagSize === 128)
    .flatMap(({ tests }) => tests);

describe('the function that encrypts', () => {
  it('matches the published Wycheproof vectors, to seal and to open', ({ skip }) => {
    if (!existsSync(WYCHEPROOF)) skip(`${WYCHEPROOF} is not beside this checkout`);
    const tests = wycheproof();
    expect(tests.length).toBeGreaterThan(50);
    for (const { tcId, key, iv, aad, msg, ct, tag, result } of tests) {
      const sealed = hex(ct + tag);
      const opened = decrypt(hex(key), hex(iv), hex(aad), sealed);
      expect({
        tcId,
        opened: opened === undefined ? 'invalid' : Buffer.from(opened).toString('hex'),
      }).toEqual({
        tcId,
        opened: result === 'valid' ? msg : 'invalid',
      });
      if (result === 'valid') {
        const again = encrypt(hex(key), hex(iv), hex(aad), hex(msg));
        expect({ tcId, sealed: Buffer.from(again).toString('hex') }).toEqual({ tcId, sealed: ct + tag });
      }
    }
  });

  const NONCE = Buffer.alloc(12, 7);

  it.each([
    ['a key of 31 bytes', KEY.subarray(1), NONCE],
    ['a key of 16 bytes', KEY.subarray(16), NONCE],
    ['a key object of 16 bytes', createSecretKey(KEY.subarray(16)), NONCE],
    ['a nonce of 11 bytes', KEY, NONCE.subarray(1)],
    ['a nonce of 16 bytes', KEY, Buffer.alloc(16)],
    ['an empty nonce', KEY, Buffer.alloc(0)],
  ])('refuses %s, to seal and to open', (_title, key, nonce) => {
    expect(() => encrypt(key, nonce, text(''), text('x'))).toThrow(RangeError);
    expect(() => decrypt(key, nonce, text(''), Buffer.alloc(17))).toThrow(RangeError);
  });

  it('names the length of a wrong nonce', () => {
    expect(() => encrypt(KEY, Buffer.alloc(16), text(''), text('x'))).toThrow(
      'a nonce has 12 bytes, this has 16',
    );
  });

  it('takes a key object as it takes its bytes', () => {
    const sealed = encrypt(createSecretKey(KEY), NONCE, text('a'), text('x'));
    expect(Buffer.from(decrypt(KEY, NONCE, text('a'), sealed) ?? [])).toEqual(text('x'));
  });

  it('seals an empty text to its tag alone, and opens it', () => {
    const sealed = encrypt(KEY, NONCE, text('a'), text(''));
    expect(sealed).toHaveLength(16);
    expect(decrypt(KEY, NONCE, text('a'), sealed)).toEqual(Buffer.alloc(0));
  });

  it.each([
    ['an empty text', ''],
    ['a text', 'twelve bytes'],
  ])('does not open %s whose tag was cut short', (_title, plaintext) => {
    const sealed = encrypt(KEY, NONCE, text('a'), text(plaintext));
    // GCM itself defines tags of 4 bytes and of 12 to 15.
    for (let length = 0; length < sealed.length; length += 1)
      expect({ length, opened: decrypt(KEY, NONCE, text('a'), sealed.subarray(0, length)) }).toEqual({
        length,
        opened: undefined,
      });
  });

  it('does not open with other additional data, or none', () => {
    const sealed = encrypt(KEY, NONCE, text('a'), text('x'));
    for (const other of ['', 'b', 'aa']) expect(decrypt(KEY, NONCE, text(other), sealed)).toBeUndefined();
    const bare = encrypt(KEY, NONCE, text(''), text('x'));
    expect(decrypt(KEY, NONCE, text('a'), bare)).toBeUndefined();
  });
});

describe('the byte format', () => {
  // Vectors of the byte format (docs/kyc.md): bytes that a release once wrote are read by every later one.
  const vectors = [
    {
      place: {
        table: 'kyc_records',
        column: 'tax_id',
        record_id: 'acme/0198f0c2-7b1d-7000-8000-000000000001',
      },
      plaintext: 'DE 123-456',
      nonce: '000102030405060708090a0b',
      sealed: '01000102030405060708090a0b0347f62af7d6ef2fb877e8b14a89d810ca1d8dabf44f0b4054cc',
    },
    {
      place: { table: 'applications', column: 'access_token', record_id: 'acme' },
      plaintext: '',
      nonce: 'ffffffffffffffffffffffff',
      sealed: '01ffffffffffffffffffffffff59cd151b3d0adc40df1ff10e02abfd75',
    },
    {
      place: {
        table: 'applications',
        column: 'access_token',
        record_id: 'acme',
        boundTo: ['https://acme.example', 'https://kyc.acme.example'],
      },
      plaintext: 'token',
      nonce: 'b0b1b2b3b4b5b6b7b8b9babb',
      sealed: '02b0b1b2b3b4b5b6b7b8b9babbed3a31ce82d33390a99c4671a53d4cbb9e4ecb3a91',
    },
    {
      place: {
        table: 'kyc_records',
        column: 'cp_name',
        record_id: 'acme/0198f0c2-7b1d-7000-8000-000000000001',
      },
      plaintext: '纸船游戏 🎮 Ltd',
      nonce: 'a0a1a2a3a4a5a6a7a8a9aaab',
      sealed:
        '01a0a1a2a3a4a5a6a7a8a9aaab01a2c4c5cd72e407da830f5c278a5f50de8c1564f6810868bca735d45b08de62109b131b6f',
    },
  ];
  const key = hex('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f');

  it.each(vectors)(
    'is what the documented vectors say: $place.table.$place.column',
    ({ place, plaintext, nonce, sealed }) => {
      const body = encrypt(key, hex(nonce), additionalData(place), text(plaintext));
      expect(`${sealed.slice(0, 2)}${nonce}${Buffer.from(body).toString('hex')}`).toBe(sealed);
      expect(Buffer.from(openValue(key, place, hex(sealed))).toString()).toBe(plaintext);
    },
  );

  it('never seals the same value to the same bytes', () => {
    const seal = () => Buffer.from(sealValue(KEY, PLACE, text('same'))).toString('hex');
    expect(new Set(Array.from({ length: 100 }, seal)).size).toBe(100);
  });

  it.each([
    ['another column', { column: 'id_number' }],
    ['another record', { record_id: 'acme/r2' }],
    ['another application', { record_id: 'bolt/r1' }],
    ['another table', { table: 'applications' }],
    ['the same bytes cut elsewhere', { table: 'kyc_recordst', column: 'ax_id' }],
  ])('does not open for %s', async (_title, change) => {
    const sealed = sealValue(KEY, PLACE, text('SECRET'));
    const { code, message } = await keyErrorOf(() => openValue(KEY, { ...PLACE, ...change }, sealed));
    expect(code).toBe('does_not_open');
    expect(message).not.toContain('SECRET');
  });

  it('does not open with any one bit changed, and names the record', async () => {
    const sealed = sealValue(KEY, PLACE, text('SECRET'));
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
      const { code, message } = await keyErrorOf(() => openValue(KEY, PLACE, changed));
      expect(code).toBe(bit < 8 ? 'unknown_version' : 'does_not_open');
      expect(message).toContain('kyc_records.tax_id acme/r1');
    }
  });

  it('does not open when cut anywhere, the tag included', async () => {
    const sealed = sealValue(KEY, PLACE, text('SECRET'));
    for (let length = 0; length < sealed.length; length += 1) {
      expect((await keyErrorOf(() => openValue(KEY, PLACE, sealed.subarray(0, length)))).code).toBe(
        'does_not_open',
      );
    }
  });
});

describe('a record', () => {
  const keys = ringOf(['k1']);

  it('opens to what was sealed, for any text', async () => {
    const value = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 64 }),
      fc.string({ unit: 'binary', maxLength: 2_048 }).map((raw) => raw.toWellFormed()),
    );
    const record = fc.record(Object.fromEntries(KYC_SEALED_FIELDS.map((field) => [field, value])) as never);
    await fc.assert(
      fc.asyncProperty(record, async (given) => {
        const fields = given as Parameters<typeof sealKycRecord>[2];
        const sealed = await sealKycRecord(keys, 'acme', fields);
        expect(await openKycRecord(keys, { ...sealed, application_id: 'acme' })).toEqual(fields);
      }),
      { numRuns: 200 },
    );
  });

  it('opens for a value of 2,048 characters of four bytes each', async () => {
    const longest = '🎮'.repeat(2_048);
    const fields = Object.fromEntries(KYC_SEALED_FIELDS.map((field) => [field, longest])) as never;
    const sealed = await sealKycRecord(keys, 'acme', fields);
    expect(sealed.cp_name.length).toBe(29 + 4 * 2_048);
    expect(await openKycRecord(keys, { ...sealed, application_id: 'acme' })).toEqual(fields);
  });
});
