import { expect, test } from 'vitest';
import { joinClaims, loginOf, nameOf } from '#src/identity/oidc-claims.ts';

test('an address is a login only if the provider says that it is verified', () => {
  const claims = { email: 'Boss@example.com', preferred_username: 'eve', sub: '42' };
  expect(loginOf({ ...claims, email_verified: true })).toBe('boss@example.com');
  for (const email_verified of [undefined, false, null, 'true', 1])
    expect(loginOf({ ...claims, email_verified })).toBe('eve');
  expect(loginOf({ email: 'boss@example.com', sub: '42' })).toBe('42');
});

test('a name that is an address is no login if the provider says that it has verified none', () => {
  const claims = { preferred_username: 'boss@example.com', sub: '42' };
  expect(loginOf({ ...claims, email: 'eve@example.com', email_verified: false })).toBeUndefined();
  for (const email_verified of [false, 'false'])
    expect(loginOf({ ...claims, email_verified })).toBeUndefined();
  // It verifies addresses, and this name is none that it has verified.
  for (const email_verified of ['true', 1, null])
    expect(loginOf({ ...claims, email: 'eve@example.com', email_verified })).toBeUndefined();
  expect(loginOf({ ...claims, email_verified: true })).toBeUndefined();
  const verified = { email: 'eve@example.com', email_verified: true };
  expect(loginOf(joinClaims(verified, { ...claims, email: 'eve@example.com' }))).toBeUndefined();
  expect(
    loginOf(joinClaims({ email: 'eve@example.com' }, { ...claims, email_verified: true })),
  ).toBeUndefined();
  // Entra ID says nothing of it, and gives such names itself.
  expect(loginOf(claims)).toBe('boss@example.com');
});

test('an address of the ID token is not verified because userinfo has verified another one, nor the reverse', () => {
  const [boss, eve] = [{ email: 'boss@example.com' }, { email: 'eve@example.com', email_verified: true }];
  expect(loginOf(joinClaims(eve, { ...boss, sub: '42' }))).toBe('42');
  expect(loginOf(joinClaims(boss, { email_verified: true, sub: '42' }))).toBe('42');
  expect(loginOf(joinClaims(eve, { sub: '42' }))).toBe('eve@example.com');
  expect(loginOf(joinClaims(boss, { ...eve, sub: '42' }))).toBe('eve@example.com');
});

test.each([
  ['\u0430dmin@example.com', 'Cyrillic'],
  ['\u212aim', 'the Kelvin sign, whose lower case is k'],
  ['---', 'no letter first'],
  ['kim\u0000', 'NUL'],
  ['kim ', 'a space'],
  ['k'.repeat(101), 'too long'],
  ['Unknown', 'the name of strangers in the audit log'],
  ['catalogue', 'the name of the platform there'],
])('%j is no login: %s', (claim) => {
  expect(
    loginOf({ email: claim, email_verified: true, preferred_username: 'kim', sub: '42' }),
  ).toBeUndefined();
  expect(loginOf({ preferred_username: claim, sub: '42' })).toBeUndefined();
  expect(loginOf({ sub: claim })).toBeUndefined();
});

test('an empty claim is none', () => {
  expect(loginOf({ email: '', email_verified: true, preferred_username: '', sub: '42' })).toBe('42');
  expect(loginOf({ email: '', sub: '' })).toBeUndefined();
});

test('a name loses what controls a text or its direction', () => {
  expect(nameOf({ name: 'Adam\u0000 \u202eninja' }, 'adam')).toBe('Adam ninja');
  expect(nameOf({ name: '\u202e' }, 'adam')).toBe('adam');
});
