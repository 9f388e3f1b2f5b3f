import { expect, it } from 'vitest';
import { bindAccessToken, openAccessToken, originsOf, tokenRecord } from '#src/sealing/access-token.ts';
import { wrapDataKey } from '#src/sealing/key-provider.ts';
import { FORMAT, openValue, sealValue } from '#src/sealing/sealed-value.ts';
import { ACCESS_TOKEN } from '#test/support/factories.ts';
import { keyBytes, keyErrorOf, ringOf } from '#test/support/kyc.ts';

const ACME = {
  application_id: 'acme',
  query_game_list_webhook: 'https://kyc.acme.example/list',
  query_game_detail_webhook: 'https://acme.example:443/detail',
  query_cp_kyc_webhook: 'https://acme.example/kyc',
};
const KEYS = ringOf(['k1']);
const DATA_KEY = keyBytes('data key');

/** A token as an earlier release sealed it: bound to no origin. */
const unbound = async () => ({
  access_token: sealValue(
    DATA_KEY,
    { table: 'applications', record_id: 'acme', column: 'access_token' },
    Buffer.from(ACCESS_TOKEN),
  ),
  access_token_keys: await wrapDataKey(KEYS.tokens, DATA_KEY, tokenRecord('acme')),
});

it.each([
  ['each origin once, sorted', ACME, ['https://acme.example', 'https://kyc.acme.example']],
  [
    'the text of an address that is no URL',
    { ...ACME, query_cp_kyc_webhook: 'none' },
    ['https://acme.example', 'https://kyc.acme.example', 'none'],
  ],
])('a token is sealed for the origins of the three webhooks: %s', (_, application, origins) => {
  expect(originsOf(application)).toEqual(origins);
});

it('a token that is bound to no origin opens, unless REFUSE_UNBOUND_TOKENS is set', async () => {
  const application = { ...ACME, ...(await unbound()) };
  expect(await openAccessToken(KEYS, application)).toBe(ACCESS_TOKEN);
  expect(await openAccessToken({ ...KEYS, refuseUnbound: false }, application)).toBe(ACCESS_TOKEN);
  const refused = await keyErrorOf(() => openAccessToken({ ...KEYS, refuseUnbound: true }, application));
  expect(refused).toMatchObject({
    code: 'unbound_token',
    message:
      'The access token of acme is not bound to the origins of its webhooks, and REFUSE_UNBOUND_TOKENS is set. Give it again: npx catalogue app update acme --access-token-file …',
  });
});

it('a token that is bound to no origin is bound once, under the same data key', async () => {
  const { access_token, access_token_keys } = await unbound();
  const bound = bindAccessToken(KEYS, ACME, DATA_KEY, access_token);
  expect(bound?.[0]).toBe(FORMAT.bound);
  if (bound === null) throw new Error('the token was bound already');
  const place = {
    table: 'applications',
    record_id: 'acme',
    column: 'access_token',
    boundTo: originsOf(ACME),
  };
  expect(openValue(DATA_KEY, place, bound)).toEqual(Buffer.from(ACCESS_TOKEN));
  const strict = { ...KEYS, refuseUnbound: true };
  expect(await openAccessToken(strict, { ...ACME, access_token: bound, access_token_keys })).toBe(
    ACCESS_TOKEN,
  );
  expect(bindAccessToken(strict, ACME, DATA_KEY, bound)).toBeNull();
  expect((await keyErrorOf(() => bindAccessToken(strict, ACME, DATA_KEY, access_token))).code).toBe(
    'unbound_token',
  );
});

it('a token whose webhooks changed names the origins, and what to do', async () => {
  const { access_token, access_token_keys } = await unbound();
  const bound = bindAccessToken(KEYS, ACME, DATA_KEY, access_token);
  const moved = { ...ACME, query_cp_kyc_webhook: 'https://evil.example/' };
  const open = () => openAccessToken(KEYS, { ...moved, access_token: bound, access_token_keys });
  expect(await keyErrorOf(open)).toMatchObject({
    code: 'does_not_open',
    message:
      'The access token of acme is not sealed for https://acme.example, https://evil.example, https://kyc.acme.example, so nothing is sent there. Check its webhooks (npx catalogue app show acme), then give the token again: npx catalogue app update acme --access-token-file …',
  });
});

it('a token of a later format is named as such, and one that is gone too', async () => {
  const { access_token, access_token_keys } = await unbound();
  const later = Buffer.from(access_token);
  later[0] = 9;
  const open = (token: Uint8Array | null) =>
    keyErrorOf(() => openAccessToken(KEYS, { ...ACME, access_token: token, access_token_keys }));
  expect((await open(later)).code).toBe('unknown_version');
  expect(await open(null)).toMatchObject({
    code: 'does_not_open',
    message: 'applications acme has no access token.',
  });
});
