import { expect, test } from 'vitest';
import { loginOf, nameOf } from '#src/identity/oidc-claims.ts';

test('an address that the provider has not verified is no login', () => {
  const claims = { email: 'boss@example.com', preferred_username: 'eve', sub: '42' };
  expect(loginOf({ ...claims, email_verified: true })).toBe('boss@example.com');
  expect(loginOf({ ...claims, email_verified: false })).toBe('eve');
});

test('claims without a character of a login are passed over', () => {
  expect(loginOf({ email: '---', preferred_username: '', sub: '42' })).toBe('42');
  expect(loginOf({ email: '', sub: '---' })).toBe('');
});

test('a name loses what controls a text or its direction', () => {
  expect(nameOf({ name: 'Adam\u0000 \u202eninja' }, 'adam')).toBe('Adam ninja');
  expect(nameOf({ name: '\u202e' }, 'adam')).toBe('adam');
});
