import { execFile } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { UsageError } from '#src/errors.ts';
import { openAccessToken, sealAccessToken } from '#src/sealing/access-token.ts';
import { unwrapDataKey, wrapDataKey } from '#src/sealing/key-provider.ts';
import { openKeyRing, parseEncryptionKeys } from '#src/sealing/key-ring.ts';
import { ACCESS_TOKEN } from '#test/support/factories.ts';
import { aHome, keyBytes, keyErrorOf, keysText, ringOf } from '#test/support/kyc.ts';

const run = promisify(execFile);
const ACME = {
  application_id: 'acme',
  query_game_list_webhook: 'https://acme.example/list',
  query_game_detail_webhook: 'https://acme.example:443/detail',
  query_cp_kyc_webhook: 'https://kyc.acme.example/',
};
const RECORD = { table: 'kyc_records', record_id: 'acme/r1' };
const ARN = 'arn:aws:kms:eu-central-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab';

describe('ENCRYPTION_KEYS', () => {
  it('names keys of 32 bytes in order, and keys of AWS KMS', () => {
    const entries = parseEncryptionKeys(`${keysText('k2')}, aws-kms:${ARN}`);
    expect(entries).toEqual([
      { kind: 'local', key_id: 'k2', key: Buffer.from(keyBytes('k2')) },
      { kind: 'aws-kms', key_id: `aws-kms:${ARN}`, arn: ARN },
    ]);
  });

  const secret = Buffer.from(keyBytes('k1')).toString('base64');
  it.each([
    ['a key without an id', secret],
    ['an empty id', `:${secret}`],
    ['a key of 31 bytes', `k1:${Buffer.alloc(31, 7).toString('base64')}`],
    ['a key of 33 bytes', `k1:${Buffer.alloc(33, 7).toString('base64')}`],
    ['a key in hex', `k1:${Buffer.from(secret, 'base64').toString('hex')}`],
    ['base64 with a wrong last character', `k1:${'A'.repeat(42)}B=`],
    ['an id given twice', `${keysText('k1')},k1:${Buffer.alloc(32, 7).toString('base64')}`],
    ['an empty entry', `${keysText('k1')},`],
    ['nothing', ''],
    ['an address that is none of KMS', 'aws-kms:arn:aws:s3:::bucket'],
  ])('refuses %s without repeating it', (_title, text) => {
    const parse = () => parseEncryptionKeys(text);
    expect(parse).toThrow(UsageError);
    expect(parse).toThrow(/ENCRYPTION_KEYS/);
    for (const part of text.split(/[:,]/).filter((piece) => piece.length > 8 && !piece.startsWith('arn'))) {
      expect(parse).not.toThrow(new RegExp(part.replaceAll(/[+/]/g, '.')));
    }
  });
});

describe('the key ring', () => {
  it('creates an installation key once, readable by its user alone, and finds it again', async () => {
    const home = join(await aHome(), 'new', 'home');
    const first = await openKeyRing({ encryptionKeys: undefined, home, databaseUrl: undefined });
    const again = await openKeyRing({ encryptionKeys: undefined, home, databaseUrl: undefined });
    expect(first.records[0]?.key_id).toMatch(/^home-[0-9a-f]{8}$/);
    const wraps = await wrapDataKey(first.tokens, keyBytes('data'), RECORD);
    expect(Buffer.from(await unwrapDataKey(again.records, wraps, RECORD))).toEqual(
      Buffer.from(keyBytes('data')),
    );
    expect((await stat(join(home, 'keys'))).mode & 0o777).toBe(0o600);
    // The folder too: who writes there could put another key in its place.
    expect((await stat(home)).mode & 0o777).toBe(0o700);
    expect(await readdir(home)).toEqual(['keys']);
  });

  it('makes one key when eight processes start at once', async () => {
    const home = await aHome();
    const starts = Array.from({ length: 8 }, () =>
      run(process.execPath, ['test/sealing/print-key-id.ts', home]),
    );
    const ids = (await Promise.all(starts)).map(({ stdout }) => stdout);
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).toMatch(/^home-/);
    expect(await readdir(home)).toEqual(['keys']);
  });

  it('seals by the first key of ENCRYPTION_KEYS alone, tokens too', async () => {
    const ring = await openKeyRing({
      encryptionKeys: keysText('k2', 'k1'),
      home: await aHome(),
      databaseUrl: undefined,
    });
    expect(ring.records.map(({ key_id }) => key_id)).toEqual(['k2', 'k1', expect.stringMatching(/^home-/)]);
    expect(ring.tokens.map(({ key_id }) => key_id)).toEqual(['k2']);
  });

  it('of a database elsewhere seals records by ENCRYPTION_KEYS alone, and tokens by what there is', async () => {
    const home = await aHome();
    const fleet = { home, databaseUrl: 'postgres://db/catalogue' };
    const none = await openKeyRing({ ...fleet, encryptionKeys: undefined });
    expect((await keyErrorOf(() => wrapDataKey(none.records, keyBytes('data'), RECORD))).code).toBe('no_key');
    const sealed = await sealAccessToken(none, ACME, ACCESS_TOKEN);
    expect(await openAccessToken(none, { ...ACME, ...sealed })).toBe(ACCESS_TOKEN);
    // Its own key opens what it sealed while the database was the embedded one.
    const both = await openKeyRing({ ...fleet, encryptionKeys: keysText('k1') });
    expect(both.records.map(({ key_id }) => key_id)).toEqual(['k1', expect.stringMatching(/^home-/)]);
  });

  it('goes without a key of its own where the home cannot be written', async () => {
    const file = join(await aHome(), 'file');
    await writeFile(file, '');
    const ring = await openKeyRing({
      encryptionKeys: keysText('k1'),
      home: join(file, 'home'),
      databaseUrl: undefined,
    });
    expect(ring.tokens.map(({ key_id }) => key_id)).toEqual(['k1']);
    const none = await openKeyRing({
      encryptionKeys: undefined,
      home: join(file, 'home'),
      databaseUrl: undefined,
    });
    expect((await keyErrorOf(() => wrapDataKey(none.records, keyBytes('data'), RECORD))).code).toBe('no_key');
  });

  it('names the file that is malformed, and not its content', async () => {
    const home = await aHome();
    await writeFile(join(home, 'keys'), 'half-a-key:SECRET');
    const opening = openKeyRing({ encryptionKeys: undefined, home, databaseUrl: undefined });
    await expect(opening).rejects.toThrow(UsageError);
    await expect(opening).rejects.toThrow(join(home, 'keys'));
    await expect(opening).rejects.not.toThrow('SECRET');
    expect(await readFile(join(home, 'keys'), 'utf8')).toBe('half-a-key:SECRET');
  });

  it('never prints its keys', async () => {
    const { inspect } = await import('node:util');
    const shown = inspect(ringOf(['k1'], 'home-00000000'), { depth: 9, showHidden: true });
    expect(shown).not.toContain(Buffer.from(keyBytes('k1')).toString('hex').slice(0, 8));
  });
});

describe('a wrapped data key', () => {
  const keys = ringOf(['k2', 'k1']);

  it('opens for its record alone', async () => {
    const wraps = await wrapDataKey(keys.records, keyBytes('data'), RECORD);
    const { code, message } = await keyErrorOf(() =>
      unwrapDataKey(keys.records, wraps, { ...RECORD, record_id: 'acme/r2' }),
    );
    expect(code).toBe('does_not_open');
    expect(message).toContain('acme/r2');
  });

  it('does not open to anything but 32 bytes', async () => {
    const wraps = await wrapDataKey(keys.records, Buffer.alloc(31), RECORD);
    const { code, message } = await keyErrorOf(() => unwrapDataKey(keys.records, wraps, RECORD));
    expect(code).toBe('does_not_open');
    expect(message).toBe('The data key of the row acme/r1 of kyc_records has 31 bytes instead of 32.');
  });

  it('is not tried under keys of another id', async () => {
    const [wrap] = await wrapDataKey(keys.records, keyBytes('data'), RECORD);
    const renamed = [{ key_id: 'k9', wrapped: wrap?.wrapped ?? '' }];
    const { code, message } = await keyErrorOf(() => unwrapDataKey(keys.records, renamed, RECORD));
    expect(code).toBe('unknown_key');
    expect(message).toBe(
      'The row acme/r1 of kyc_records is sealed under key k9, which this process does not have (it has: k2, k1). See ENCRYPTION_KEYS.',
    );
  });

  it('does not open under a key that another key took the id of', async () => {
    const [wrap] = await wrapDataKey(keys.records, keyBytes('data'), RECORD);
    const renamed = [{ key_id: 'k1', wrapped: wrap?.wrapped ?? '' }];
    expect(await keyErrorOf(() => unwrapDataKey(keys.records, renamed, RECORD))).toMatchObject({
      code: 'does_not_open',
      message:
        'The data key of the row acme/r1 of kyc_records does not open under key k1: this process has another key of that id, or the row was changed.',
    });
  });
});

describe('an access token', () => {
  const seal = (ids: string[], home?: string) => sealAccessToken(ringOf(ids, home), ACME, ACCESS_TOKEN);
  const open = async (ids: string[], home: string | undefined, sealed: Awaited<ReturnType<typeof seal>>) =>
    openAccessToken(ringOf(ids, home), { ...ACME, ...sealed });

  it('does not open by the key of the installation that sealed it, where ENCRYPTION_KEYS is set', async () => {
    const sealed = await seal(['k1'], 'home-aaaaaaaa');
    expect(await open(['k1'], undefined, sealed)).toBe(ACCESS_TOKEN);
    expect((await keyErrorOf(() => open([], 'home-aaaaaaaa', sealed))).code).toBe('unknown_key');
  });

  it('opens by the installation that sealed it without ENCRYPTION_KEYS, also once they are set', async () => {
    const sealed = await seal([], 'home-aaaaaaaa');
    expect(await open(['k2'], 'home-aaaaaaaa', sealed)).toBe(ACCESS_TOKEN);
    expect((await keyErrorOf(() => open(['k2'], undefined, sealed))).code).toBe('unknown_key');
  });

  it('opens at the origins that it was sealed for, on any path, and nowhere else', async () => {
    const sealed = await seal(['k1']);
    const openAt = (change: Partial<typeof ACME>) =>
      openAccessToken(ringOf(['k1']), { ...ACME, ...change, ...sealed });
    expect(await openAt({ query_game_list_webhook: 'https://ACME.example/elsewhere?page=1' })).toBe(
      ACCESS_TOKEN,
    );
    expect(await openAt({ query_game_list_webhook: 'https://kyc.acme.example/list' })).toBe(ACCESS_TOKEN);
    for (const url of [
      'http://acme.example/list',
      'https://acme.example:8443/list',
      'https://acme.example.evil.example/list',
      'https://acme.example@evil.example/list',
      'https://kyc.acme.example./list',
      'no address',
      '',
    ]) {
      const { code, message } = await keyErrorOf(() => openAt({ query_game_list_webhook: url }));
      expect({ url, code }).toEqual({ url, code: 'does_not_open' });
      expect(message).toContain('app update acme --access-token-file');
    }
  });

  it('does not open for another application, without keys, or once it is gone', async () => {
    const sealed = await seal(['k1']);
    const moved = { ...ACME, application_id: 'bolt', ...sealed };
    const wrong = await keyErrorOf(() => openAccessToken(ringOf(['k1']), moved));
    expect(wrong.code).toBe('does_not_open');
    const lacking = await keyErrorOf(() => open(['k2'], 'home-bbbbbbbb', sealed));
    expect(lacking.code).toBe('unknown_key');
    expect(lacking.message).toContain(
      'under key k1, which this process does not have (it has: k2, home-bbbbbbbb)',
    );
    const gone = { ...ACME, access_token: null, access_token_keys: [] };
    expect((await keyErrorOf(() => openAccessToken(ringOf(['k1']), gone))).message).toContain('acme');
  });
});
