import { expect, it } from 'vitest';
import { eventSecretRecord, openEventSecrets, sealNewEventSecret } from '#src/sealing/event-secret.ts';
import { keyErrorOf, ringOf } from '#test/support/kyc.ts';

const KEYS = ringOf(['k1']);
const NO_FORMER = { former_secret: null };
const ADDRESS = { application_id: 'acme', url: 'https://acme.example/events' };

it('a new secret has the form of Standard Webhooks, and opens for its address', async () => {
  const { secret, sealed } = await sealNewEventSecret(KEYS, ADDRESS);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(await openEventSecrets(KEYS, { ...ADDRESS, ...NO_FORMER, ...sealed })).toEqual([secret]);
  expect((await sealNewEventSecret(KEYS, ADDRESS)).secret).not.toBe(secret);
});

it('the secret before a rotation opens as the former one, by its own data key', async () => {
  const first = await sealNewEventSecret(ringOf(['k1']), ADDRESS);
  const second = await sealNewEventSecret(ringOf(['k2']), ADDRESS);
  const both = {
    ...ADDRESS,
    secret: second.sealed.secret,
    former_secret: first.sealed.secret,
    secret_keys: [...second.sealed.secret_keys, ...first.sealed.secret_keys],
  };
  expect(await openEventSecrets(ringOf(['k2', 'k1']), both)).toEqual([second.secret, first.secret]);
  // A former secret whose key is lost signs nothing; the present one does.
  expect(await openEventSecrets(ringOf(['k2']), both)).toEqual([second.secret]);
  expect((await keyErrorOf(() => openEventSecrets(ringOf(['k1']), both))).code).toBe('unknown_key');
});

it('a key that was replaced opens a secret while it is still listed for records', async () => {
  const { secret, sealed } = await sealNewEventSecret(ringOf(['k1']), ADDRESS);
  expect(await openEventSecrets(ringOf(['k2', 'k1']), { ...ADDRESS, ...NO_FORMER, ...sealed })).toEqual([
    secret,
  ]);
  expect(
    (await keyErrorOf(() => openEventSecrets(ringOf(['k2']), { ...ADDRESS, ...NO_FORMER, ...sealed }))).code,
  ).toBe('unknown_key');
});

it('a process without keys for records opens a secret by its keys for tokens', async () => {
  const tokensOnly = { records: [], tokens: KEYS.tokens };
  const { secret, sealed } = await sealNewEventSecret(tokensOnly, ADDRESS);
  expect(await openEventSecrets(tokensOnly, { ...ADDRESS, ...NO_FORMER, ...sealed })).toEqual([secret]);
});

it.each([
  ['https://evil.example/events', 'https://evil.example'],
  ['https://acme.example/other', 'https://acme.example'],
  ['no address', 'its address'],
])('a secret does not open for %s: nothing is sent there', async (url, named) => {
  const { sealed } = await sealNewEventSecret(KEYS, ADDRESS);
  const moved = { ...ADDRESS, ...NO_FORMER, url, ...sealed };
  const message = `The secret of the events of acme is not sealed for ${named}, so nothing is sent there. Check the address (npx catalogue app show acme), then set it again: npx catalogue app update acme --events-webhook …`;
  expect(await keyErrorOf(() => openEventSecrets(KEYS, moved))).toMatchObject({
    code: 'does_not_open',
    message,
  });
});

it('a secret does not open for another application, or in a later format', async () => {
  const { sealed } = await sealNewEventSecret(KEYS, ADDRESS);
  const codeOf = async (changes: object) =>
    (await keyErrorOf(() => openEventSecrets(KEYS, { ...ADDRESS, ...NO_FORMER, ...sealed, ...changes })))
      .code;
  expect(await codeOf({ application_id: 'bolt' })).toBe('does_not_open');
  const later = Buffer.from(sealed.secret);
  later[0] = 9;
  expect(await codeOf({ secret: later })).toBe('unknown_version');
  expect(eventSecretRecord({ application_id: 'acme' })).toEqual({
    table: 'event_webhooks',
    record_id: 'acme',
  });
});
