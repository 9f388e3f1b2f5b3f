import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Site } from '#src/contract/roles.ts';
import { confirmOperator } from '#src/identity/confirm.ts';
import { createOidc } from '#src/identity/oidc.ts';
import { startServer } from '#test/identity/token-server.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const CONSOLE = 'http://127.0.0.1:8081';
const [ours, strange] = [1, 2].map(() => generateKeyPairSync('rsa', { modulusLength: 2_048 }));
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const jwk = ours?.publicKey.export({ format: 'jwk' });

type Claims = Record<string, unknown>;
/** What the token endpoint answers with. */
let issue: (claims: Claims) => string;
/** What the metadata says beside what is right. */
let metadata: Record<string, unknown> = {};
let provider: Awaited<ReturnType<typeof startServer>>;
let nonce = '';

const rs256 = (claims: Claims, key: KeyObject | undefined, header: Claims = {}): string => {
  const text = `${encode({ alg: 'RS256', kid: 'one', ...header })}.${encode(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), key ?? '').toString('base64url')}`;
};

beforeAll(async () => {
  provider = await startServer((path, issuer) => {
    if (path === '/.well-known/openid-configuration')
      return {
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        id_token_signing_alg_values_supported: ['RS256'],
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        ...metadata,
      };
    if (path === '/jwks') return { keys: [{ ...jwk, kid: 'one', alg: 'RS256', use: 'sig' }] };
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: issuer,
      aud: 'catalogue',
      sub: 'mira',
      nonce,
      iat: now,
      exp: now + 300,
      groups: ['team'],
    };
    return { access_token: 'an access token', token_type: 'Bearer', id_token: issue(claims) };
  });
});
afterAll(() => provider?.stop());

const signIn = async (site: Site = 'console') => {
  const oidc = createOidc(
    database.sql,
    {
      issuer: provider.url,
      clientId: 'catalogue',
      clientSecret: 'a secret',
      rolesClaim: 'groups',
      roles: new Map([
        ['team', ['reviewer', 'kyc_officer']],
        ['leads', ['admin']],
      ]),
    },
    site,
    CONSOLE,
  );
  const { url, flow } = await oidc.begin('/', '127.0.0.1');
  const asked = new URL(url).searchParams;
  nonce = asked.get('nonce') ?? '';
  return oidc.finish(flow, `?code=a-code&state=${asked.get('state')}`, '127.0.0.1');
};

test('an ID token that the provider signed for this console opens a session', async () => {
  issue = (claims) => rs256(claims, ours?.privateKey);
  expect((await signIn()).session).toMatch(/^[\w-]{43}$/);
});

test.each<[what: string, claims: Claims]>([
  ['the address of somebody else, in Cyrillic', { email: '\u0430dmin@games.example', email_verified: true }],
  [
    'the address of somebody else as the name, and none that is verified',
    { email: 'eve@games.example', email_verified: false, preferred_username: 'boss@games.example' },
  ],
  ['a name with NUL', { preferred_username: 'ki\u0000m' }],
  ['a subject with NUL', { sub: 'ki\u0000m', preferred_username: 'kim' }],
  ['a subject of megabytes', { sub: 'x'.repeat(3_000_000), preferred_username: 'kim' }],
  ['a subject that is no text', { sub: ['kim'], preferred_username: 'kim' }],
])('a person with %s is refused in words, and becomes no operator', async (_, more) => {
  issue = (claims) => rs256({ ...claims, sub: 'eve', ...more }, ours?.privateKey);
  await expect(signIn()).rejects.toThrow(/^(Your provider|The provider)/);
  const logins = await database.sql<{ login: string }[]>`select login from operators`;
  expect(logins.map(({ login }) => login)).toEqual(['mira']);
});

test.each<[what: string, issue: (claims: Claims) => string]>([
  ['is signed by another key', (claims) => rs256(claims, strange?.privateKey)],
  [
    'brings its own key along',
    (claims) => rs256(claims, strange?.privateKey, { jwk: strange?.publicKey.export({ format: 'jwk' }) }),
  ],
  [
    'was changed after it was signed',
    (claims) => {
      const [head, , signature] = rs256(claims, ours?.privateKey).split('.');
      return `${head}.${encode({ ...claims, sub: 'somebody-else' })}.${signature}`;
    },
  ],
  ['is not signed', (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.`],
  [
    'is signed with the public key as a secret',
    (claims) => {
      const text = `${encode({ alg: 'HS256', kid: 'one' })}.${encode(claims)}`;
      const secret = ours?.publicKey.export({ type: 'spki', format: 'pem' }) ?? '';
      return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
    },
  ],
  ['is for another client', (claims) => rs256({ ...claims, aud: 'another-client' }, ours?.privateKey)],
  ['was issued to another client', (claims) => rs256({ ...claims, azp: 'another-client' }, ours?.privateKey)],
  ['is of another issuer', (claims) => rs256({ ...claims, iss: 'https://evil.example' }, ours?.privateKey)],
  [
    'has expired',
    (claims) => rs256({ ...claims, exp: Math.floor(Date.now() / 1_000) - 300 }, ours?.privateKey),
  ],
  [
    'is not valid yet',
    (claims) => rs256({ ...claims, nbf: Math.floor(Date.now() / 1_000) + 300 }, ours?.privateKey),
  ],
  ['is of an earlier sign-in', (claims) => rs256({ ...claims, nonce: 'an earlier one' }, ours?.privateKey)],
  ['has no subject', ({ sub: _sub, ...claims }) => rs256(claims, ours?.privateKey)],
])('one that %s opens none', async (_what, forge) => {
  issue = forge;
  await expect(signIn()).rejects.toThrow('The provider did not confirm the sign-in');
});

test('answers of megabytes are not read: an ID token, and the metadata', async () => {
  const filler = 'x'.repeat(2_000_000);
  issue = (claims) => rs256({ ...claims, filler }, ours?.privateKey);
  await expect(signIn()).rejects.toThrow('The provider did not confirm the sign-in');
  issue = (claims) => rs256(claims, ours?.privateKey);
  metadata = { filler };
  await expect(signIn()).rejects.toThrow('The OIDC provider does not answer');
  metadata = {};
});

test('metadata of another issuer is refused', async () => {
  metadata = { issuer: 'https://evil.example' };
  issue = (claims) => rs256(claims, ours?.privateKey);
  await expect(signIn()).rejects.toThrow('The OIDC provider does not answer');
});

test('credentials that the provider took once confirm once, however many sign-ins follow at either site', async () => {
  metadata = {};
  const auth_time = Math.floor(Date.now() / 1_000) - 60;
  const confirm = async (site: Site, seconds: number): Promise<string> => {
    issue = (claims) => rs256({ ...claims, auth_time: auth_time + seconds }, ours?.privateKey);
    const { session } = await signIn(site);
    const given = { session, login: 'mira', password: '' };
    return (await confirmOperator(database.sql, given, '127.0.0.1')).kind;
  };
  expect(await confirm('console', 0)).toBe('confirmed');
  expect(await confirm('kyc_desk', 0)).toBe('refused');
  expect(await confirm('console', 0)).toBe('refused');
  expect(await confirm('kyc_desk', 1)).toBe('confirmed');
});

test('a person whom a group makes an administrator counts from the next day on', async () => {
  const { sql } = database;
  await sql`update operators set counts_at = now() where login = 'mira'`;
  const later = async () =>
    (
      await sql`select counts_at > now() + interval '23 hours' as later from operators where login = 'mira'`
    )[0];
  issue = (claims) => rs256(claims, ours?.privateKey);
  await signIn();
  expect(await later()).toEqual({ later: false });
  issue = (claims) => rs256({ ...claims, groups: ['team', 'leads'] }, ours?.privateKey);
  await signIn();
  expect(await later()).toEqual({ later: true });
});
