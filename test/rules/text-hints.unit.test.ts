import { describe, expect, it } from 'vitest';
import { contactsOf, hasInvisible, latinReading, mixedWords, scriptsOf } from '#src/rules/text-hints.ts';

describe('what stands out in the texts of a game', () => {
  it('names the scripts of a text', () => {
    expect(scriptsOf('Farm 农场 مزرعة 123')).toEqual(['Latin', 'Han', 'Arabic']);
    expect(scriptsOf('2048!')).toEqual([]);
  });

  it('marks words that mix alphabets that look alike, and no others', () => {
    expect(mixedWords('F\u0430rm Clash')).toEqual(['F\u0430rm']);
    expect(mixedWords('Farm Ферма αγρόκτημα 农场Farm')).toEqual([]);
  });

  it('reads words that other alphabets spell as Latin, and leaves words of their own language', () => {
    expect(latinReading('\u0421\u043E\u0441\u043E \u041Cinecr\u0430ft 2')).toBe('Coco Minecraft 2');
    expect(latinReading('\u{1D40C}inecraft \uFB01re')).toBe('Minecraft fire');
    expect(latinReading('\u13DFlash')).toBe('Clash');
    for (const name of [
      'Caf\u00E9 paypal 100',
      '\u0424\u0435\u0440\u043C\u0430',
      '\u03B1\u03B3\u03C1\u03CC\u03C2',
      '农场 ミンクラ',
      'مزرعة',
    ])
      expect(latinReading(name)).toBeNull();
  });

  it('finds invisible characters, but not those with which a script or an emoji is written', () => {
    const invisible = ['Fa\u200Brm', '\u202EmraF', 'Fa\u034Frm', 'Fa\u2800rm', 'Fa\u200Crm', 'Fa\uFE0Frm'];
    for (const name of invisible) expect([name, hasInvisible(name)]).toEqual([name, true]);
    for (const name of ['👩\u200D🌾 می\u200Cخواهم', '❤\uFE0F 1\uFE0F\u20E3 ℹ\uFE0F', '葛\u{E0100}城', 'Łódź'])
      expect([name, hasInvisible(name)]).toEqual([name, false]);
  });

  it('finds addresses, messengers and telephone numbers, and no version, year or price', () => {
    expect(
      contactsOf('Mail me@example.com or https://t.example/x, QQ群：12345678, +86 138 0013 8000.'),
    ).toEqual(['me@example.com', 'https://t.example/x,', 'QQ群：12345678', '+86 138 0013 8000']);
    expect(contactsOf('Version 1.20.3 of 2024-11, 1,000,000 players, 120 levels, 3.99 USD')).toEqual([]);
  });

  it('takes a time that is linear in the length of the text', () => {
    const took = (length: number): number => {
      const from = performance.now();
      for (const text of ['a', '1', '1-', 'a@', 'a.', 'qq ', 'www.']) contactsOf(text.repeat(length));
      return performance.now() - from;
    };
    took(1_000);
    expect(took(100_000)).toBeLessThan(100 * Math.max(20, took(10_000)));
  });
});
