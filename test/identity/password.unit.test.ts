import { describe, expect, it } from 'vitest';
import { hashPassword, requireGoodPassword, verifyPassword } from '#src/identity/password.ts';

const check = (password: string) => requireGoodPassword(password, ['olga.petrova', 'Olga Petrova']);

describe('A password (OWASP ASVS 5, section 6.2)', () => {
  it.each([
    ['seven quiet herons leap'],
    ['лодка туман якорь причал'],
    ['纸船在雾中慢慢驶向远方的港口码头'],
    ['a long one without digits, capitals or rules at all, of more than sixty-four characters'],
    ['🎲🐟🪁🎻🧵🪵🐌🌋🧊🪀🍋🛶🦔🕯️🧭🪗'],
  ])('of any characters is accepted: %s', async (password) => {
    await expect(check(password)).resolves.toBeUndefined();
  });

  it.each([
    ['shorter than 15 characters', 'Tr0ub4dor&3x!'],
    ['a common one', 'passwordpassword'],
    ['a common one with its letters replaced', 'P@ssw0rdP@ssw0rd'],
    ['a row of keys', 'qwertyuiopasdfgh'],
    ['a repetition', 'abcabcabcabcabcabc'],
    ['the login', 'olga.petrovaolga.petrova'],
    ['the name', 'Olga Petrova Olga Petrova'],
    ['words of this product', 'gamecatalogueconsole'],
    ['a row of digits', '123456789012345'],
    ['a repetition in its first 40 characters', `${'ab'.repeat(20)} seven quiet herons leap`],
  ])('that is %s is refused', async (_what, password) => {
    await expect(check(password)).rejects.toThrow(/^(Use at least|This password is easy)/);
  });

  it('is verified whole: the longest that may be set is the one that signs in', async () => {
    for (const password of ['x1 '.repeat(85), '🎲🐟🪁🎻'.repeat(50)]) {
      const hash = await hashPassword(password);
      expect(await verifyPassword(password, hash)).toBe(true);
      expect(await verifyPassword(`${password.slice(0, -1)}?`, hash)).toBe(false);
      expect(await verifyPassword(password.toUpperCase(), await hashPassword(password.toLowerCase()))).toBe(
        password.toUpperCase() === password.toLowerCase(),
      );
    }
  });

  it('is stored as argon2id with 19 MiB, two passes and a salt of its own', async () => {
    const [first, second] = await Promise.all([
      hashPassword('the same words'),
      hashPassword('the same words'),
    ]);
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    expect(first).not.toBe(second);
  });
});

it('verifies passwords of unknown browsers, however many, while the others wait for a few of them alone', async () => {
  let ended = 0;
  const strangers = Array.from({ length: 40 }, async () => {
    await verifyPassword('wrong', null, 'unknown');
    ended += 1;
  });
  await verifyPassword('wrong', null);
  expect(ended).toBeLessThan(20);
  await Promise.all(strangers);
});
