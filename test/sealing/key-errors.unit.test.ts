import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UsageError } from '#src/errors.ts';
import { isKeyError, KeyError } from '#src/sealing/errors.ts';
import { unwrapDataKey, wrapDataKey } from '#src/sealing/key-provider.ts';
import { openKeyRing, parseEncryptionKeys } from '#src/sealing/key-ring.ts';
import { sealValue } from '#src/sealing/sealed-value.ts';
import { aHome, keyBytes, keyErrorOf, keysText, ringOf } from '#test/support/kyc.ts';

const RECORD = { table: 'kyc_records', record_id: 'acme/r1' };
const ARN = 'arn:aws:kms:eu-central-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab';
const NO_ENTRY = 'is not ID:BASE64, as in k1:….';
const NO_KEY = 'is not 32 bytes in base64. Make one with: openssl rand -base64 32';
const NO_ARN = 'is not aws-kms:arn:aws:kms:REGION:ACCOUNT:key/ID.';

describe('A malformed ENCRYPTION_KEYS', () => {
  it.each([
    ['no id', 'secret', `entry 1 ${NO_ENTRY}`],
    ['an id that begins with a dot', `${keysText('k1')},.k:secret`, `entry 2 ${NO_ENTRY}`],
    ['an id of 65 characters', `${'k'.repeat(65)}:secret`, `entry 1 ${NO_ENTRY}`],
    ['a short key', `${keysText('k1')},k2:secret`, `the key of entry 2 ${NO_KEY}`],
    ['a long key', `${keysText('k1')}=`, `the key of entry 1 ${NO_KEY}`],
    ['no ARN', `${keysText('k1')},aws-kms:secret`, `entry 2 ${NO_ARN}`],
    ['something before the ARN', `aws-kms:x${ARN}`, `entry 1 ${NO_ARN}`],
    ['something after the ARN', `aws-kms:${ARN}!`, `entry 1 ${NO_ARN}`],
    ['an id twice', `${keysText('k1')},${keysText('k1')}`, 'entry 2 has the id of an earlier one.'],
  ])('says which entry has %s', (_, text, problem) => {
    expect(() => parseEncryptionKeys(text)).toThrow(new UsageError(`ENCRYPTION_KEYS: ${problem}`));
  });
});

describe('The key of the installation', () => {
  const open = (home: string, encryptionKeys?: string) =>
    openKeyRing({ encryptionKeys, home, databaseUrl: undefined });

  it('counts once if ENCRYPTION_KEYS lists it too', async () => {
    const home = await aHome();
    const [own] = (await open(home)).records;
    const text = await readFile(join(home, 'keys'), 'utf8');
    expect((await open(home, text.trim())).records.map(({ key_id }) => key_id)).toEqual([own?.key_id]);
  });

  it.each([
    ['two keys', keysText('k1', 'k2')],
    ['a key of AWS KMS', `aws-kms:${ARN}`],
    ['nothing', ''],
  ])('is the only one in its file: %s are refused', async (_, text) => {
    const home = await aHome();
    await writeFile(join(home, 'keys'), text);
    await expect(open(home)).rejects.toThrow(
      new UsageError(
        `${join(home, 'keys')} does not contain the one key that was written there: restore the file.`,
      ),
    );
  });
});

describe('A data key', () => {
  it('is wrapped as the value of the column data_key: what one release wrapped opens in every later one', async () => {
    const [key] = ringOf(['k1']).records;
    const place = { ...RECORD, column: 'data_key' };
    const wrapped = sealValue(keyBytes('k1'), place, keyBytes('data'));
    expect(await key?.unwrap(wrapped, RECORD)).toEqual(keyBytes('data'));
  });

  it('that no key can wrap says what to set', async () => {
    expect(await keyErrorOf(() => wrapDataKey([], keyBytes('data'), RECORD))).toMatchObject({
      code: 'no_key',
      message:
        'There is no key to seal the row acme/r1 of kyc_records: set ENCRYPTION_KEYS (or, on the embedded database, a writable CATALOGUE_HOME).',
    });
  });

  it('that no key can unwrap names the key that is missing and those that are there, each once', async () => {
    const wraps = [{ key_id: 'k8', wrapped: '' }];
    const { records } = ringOf(['k1', 'k2']);
    const messageOf = async (...given: Parameters<typeof unwrapDataKey>) =>
      (await keyErrorOf(() => unwrapDataKey(...given))).message;
    expect(await messageOf([...records, ...records], wraps, RECORD)).toBe(
      'The row acme/r1 of kyc_records is sealed under key k8, which this process does not have (it has: k1, k2). See ENCRYPTION_KEYS.',
    );
    expect(await messageOf([], [], RECORD)).toBe(
      'The row acme/r1 of kyc_records is sealed under key none, which this process does not have (it has: none). See ENCRYPTION_KEYS.',
    );
  });
});

it('only an error of the key service may pass by itself', () => {
  const codes = ['no_key', 'unknown_key', 'does_not_open', 'unknown_version'] as const;
  for (const code of codes) expect(new KeyError(code, 'x').retryable).toBe(false);
  const error = new KeyError('key_service', 'x');
  expect([error.retryable, error.name, isKeyError(error), isKeyError(new Error('x'))]).toEqual([
    ...[true, 'KeyError', true, false],
  ]);
});
