import { expect, test } from 'vitest';
import { hideToken } from '#src/webhooks/hide-token.ts';

test('an access token is hidden in each form that an application may echo, once in each place', () => {
  const token = 'a"b é';
  const echoed = [token, JSON.stringify(token), `token=${encodeURIComponent(token)}&`].join(' ');
  expect(hideToken(echoed, token)).toBe('[access token] "[access token]" token=[access token]&');
  expect(hideToken('bad tok: tok', 'tok'), 'the words in its place have it, too').toBe(
    'bad [access token]: [access token]',
  );
  expect(hideToken('(.*) fits', '(.*)')).toBe('[access token] fits');
});
