import { expect, it } from 'vitest';
import { openAccessToken, originsOf, sealAccessToken, tokenRecord } from '#src/sealing/access-token.ts';
import { wrapDataKey } from '#src/sealing/key-provider.ts';
import { sealValue } from '#src/sealing/sealed-value.ts';
import { ACCESS_TOKEN } from '#test/support/factories.ts';
import { keyBytes, keyErrorOf, ringOf } from '#test/support/kyc.ts';

const ACME = {
  application_id: 'acme',
  query_game_list_webhook: 'https://kyc.acme.example/list',
  query_game_detail_webhook: 'https://acme.example:443/detail',
  query_cp_kyc_webhook: 'https://acme.example/kyc',
};
const KEYS = ringOf(['k1']);

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

it('a token that is sealed for no origin opens nowhere', async () => {
  const record = tokenRecord('acme');
  const dataKey = keyBytes('data key');
  const unbound = sealValue(dataKey, { ...record, column: 'access_token' }, Buffer.from(ACCESS_TOKEN));
  const access_token_keys = await wrapDataKey(KEYS.tokens, dataKey, record);
  const open = () => openAccessToken(KEYS, { ...ACME, access_token: unbound, access_token_keys });
  expect(await keyErrorOf(open)).toEqual({
    code: 'unknown_version',
    message: 'applications.access_token acme is sealed in format 1; this release reads format 2.',
  });
});

it('a token whose webhooks changed names the origins, and what to do', async () => {
  const sealed = await sealAccessToken(KEYS, ACME, ACCESS_TOKEN);
  const moved = { ...ACME, query_cp_kyc_webhook: 'https://evil.example/', ...sealed };
  expect(await keyErrorOf(() => openAccessToken(KEYS, moved))).toMatchObject({
    code: 'does_not_open',
    message:
      'The access token of acme is not sealed for https://acme.example, https://evil.example, https://kyc.acme.example, so nothing is sent there. Check its webhooks (npx catalogue app show acme), then give the token again: npx catalogue app update acme --access-token-file …',
  });
});

it('a token of a later format is named as such, and one that is gone too', async () => {
  const { access_token, access_token_keys } = await sealAccessToken(KEYS, ACME, ACCESS_TOKEN);
  const later = Buffer.from(access_token);
  later[0] = 9;
  const open = (token: Uint8Array | null) =>
    keyErrorOf(() => openAccessToken(KEYS, { ...ACME, access_token: token, access_token_keys }));
  expect((await open(later)).code).toBe('unknown_version');
  expect(await open(null)).toMatchObject({
    code: 'does_not_open',
    message: 'The row acme of applications has no access token.',
  });
});
