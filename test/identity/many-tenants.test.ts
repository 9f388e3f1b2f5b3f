/** Microsoft Entra ID with an issuer of many tenants: the administrator of each says who its people are, and what roles they have. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOidc } from '#src/identity/oidc.ts';
import { startServer } from '#test/identity/token-server.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const ENTRA = 'https://login.microsoftonline.com';
const [OURS, STRANGE] = ['8d1f0c2e-0000-4000-8000-00000000000a', '8d1f0c2e-0000-4000-8000-00000000000b'];
const keys = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const former = getGlobalDispatcher();
let provider: Awaited<ReturnType<typeof startServer>>;
let nonce = '';
/** The tenant that signs the ID token. */
let tenant = OURS;

beforeAll(async () => {
  provider = await startServer((path) => {
    if (path.endsWith('/openid-configuration'))
      return {
        issuer: `${ENTRA}/${path.startsWith('/common/') ? '{tenantid}' : OURS}/v2.0`,
        authorization_endpoint: `${ENTRA}/auth`,
        token_endpoint: `${ENTRA}/token`,
        jwks_uri: `${ENTRA}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['pairwise'],
        id_token_signing_alg_values_supported: ['RS256'],
      };
    if (path === '/keys')
      return {
        keys: [{ ...keys.publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }],
      };
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: `${ENTRA}/${tenant}/v2.0`,
      tid: tenant,
      aud: 'catalogue',
      sub: `somebody-of-${tenant}`,
      nonce,
      iat: now,
      exp: now + 300,
      roles: ['admins'],
    };
    const text = `${encode({ alg: 'RS256', kid: 'one' })}.${encode(claims)}`;
    const signature = sign('sha256', Buffer.from(text), keys.privateKey).toString('base64url');
    return { access_token: 'a token', token_type: 'Bearer', id_token: `${text}.${signature}` };
  });
  const agent = new Agent().compose(
    (dispatch) => (options, handler) =>
      dispatch({ ...options, ...(options.origin === ENTRA && { origin: provider.url }) }, handler),
  );
  setGlobalDispatcher(agent);
});
afterAll(async () => {
  setGlobalDispatcher(former);
  await provider?.stop();
});

const signIn = async (issuer: string): Promise<string> => {
  const oidc = createOidc(
    database.sql,
    {
      issuer,
      clientId: 'catalogue',
      clientSecret: 'a secret',
      rolesClaim: 'roles',
      roles: new Map([['admins', ['admin']]]),
    },
    'console',
    'http://127.0.0.1:8081',
  );
  const { url, flow } = await oidc.begin('/', '127.0.0.1');
  const asked = new URL(url).searchParams;
  nonce = asked.get('nonce') ?? '';
  return (await oidc.finish(flow, `?code=a-code&state=${asked.get('state')}`, '127.0.0.1')).session;
};

test('an issuer of many tenants opens no session, and one tenant its own alone', async () => {
  tenant = STRANGE;
  await expect(signIn(`${ENTRA}/common/v2.0`)).rejects.toThrow('OIDC_ISSUER');
  await expect(signIn(`${ENTRA}/${OURS}/v2.0`)).rejects.toThrow('The provider did not confirm the sign-in');
  tenant = OURS;
  expect(await signIn(`${ENTRA}/${OURS}/v2.0`)).toMatch(/^[\w-]{43}$/);
});
