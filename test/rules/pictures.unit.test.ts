import { describe, expect, it } from 'vitest';
import { identityRule } from '#src/rules/address-identity.ts';
import { differenceHash, freshMs, nextCheckMs, pictureId, sniffImage } from '#src/rules/pictures.ts';
import { DEFAULT_RULE } from '#test/support/factories.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

describe('A look at a picture', () => {
  it.for<[what: string, isFailure: boolean, recheckMs: number, minutes: number]>([
    ['an hour, if it is shown', false, DAY_MS, 60],
    ['5 minutes, if it is not', true, DAY_MS, 5],
    ['half of a short PICTURE_RECHECK', false, HOUR_MS, 30],
    ['half of a very short PICTURE_RECHECK, if it is not shown', true, 4 * MINUTE_MS, 2],
  ])('requests it again after %s', ([, isFailure, recheckMs, minutes]) => {
    expect(freshMs(isFailure, recheckMs) / MINUTE_MS).toBe(minutes);
  });
});

describe('A picture of a decided game', () => {
  it.for<[what: string, isFailure: boolean, recheckMs: number, random: number, minutes: number]>([
    ['after 80 % of PICTURE_RECHECK at the earliest', false, 10 * HOUR_MS, 0, 480],
    ['after PICTURE_RECHECK at the latest', false, 10 * HOUR_MS, 1, 600],
    ['in between', false, 10 * HOUR_MS, 0.5, 540],
    ['within an hour after a failure', true, 10 * HOUR_MS, 1, 60],
    ['no sooner than 80 % of an hour after a failure', true, 10 * HOUR_MS, 0, 48],
    ['within a short PICTURE_RECHECK after a failure', true, 10 * MINUTE_MS, 1, 10],
  ])('is requested again %s', ([, isFailure, recheckMs, random, minutes]) => {
    expect(nextCheckMs(isFailure, recheckMs, random) / MINUTE_MS).toBeCloseTo(minutes);
  });
});

it('the id of a picture is of its application and the identity of its address, the same in every release', () => {
  const url = 'https://cdn.example/harbour.png';
  const id = pictureId('acme', url, DEFAULT_RULE);
  expect(id).toBe('abf6adc4-cba2-7bb5-d81d-4e4532da08a6');
  const signed = `${url}?AccessKeyId=k&Expires=300&Signature=s`;
  expect(pictureId('acme', signed, DEFAULT_RULE)).toBe(id);
  expect(pictureId('acme', `${url}?t=1`, identityRule(['t']))).toBe(id);
  const others = [
    pictureId('other', url, DEFAULT_RULE),
    pictureId('acme', `${url}?t=1`, DEFAULT_RULE),
    pictureId('acm', `e ${url}`, DEFAULT_RULE),
  ];
  expect(new Set([id, ...others])).toHaveProperty('size', 4);
});

const bytesOf = (text: string): Uint8Array => Buffer.from(text, 'latin1');

describe('The type of an image', () => {
  it.for<[type: ReturnType<typeof sniffImage>, text: string]>([
    ['png', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR'],
    [null, '\x89PNG\n\x1a\n'],
    ['jpeg', '\xff\xd8\xff\xe0'],
    [null, '\xff\xd8'],
    ['webp', 'RIFF\x24\0\0\0WEBPVP8 '],
    [null, 'RIFF\x24\0\0\0WAVEfmt '],
    [null, 'FORM\x24\0\0\0WEBPVP8 '],
    ['gif', 'GIF87a\x01\0'],
    ['gif', 'GIF89a\x01\0'],
    [null, 'GIF88a\x01\0'],
    ['avif', '\0\0\0\x20ftypavif'],
    ['avif', '\0\0\0\x20ftypavis'],
    [null, '\0\0\0\x20ftypheic'],
    [null, '\0\0\0\x20moovavif'],
    [null, ''],
    [null, 'MZ'],
  ])('is %s for the first bytes %j', ([type, text]) => {
    expect(sniffImage(bytesOf(text))).toBe(type);
  });

  it.for<[type: ReturnType<typeof sniffImage>, text: string]>([
    ['svg', '<svg>'],
    ['svg', '<svg xmlns="http://www.w3.org/2000/svg">'],
    ['svg', '<SVG\n>'],
    ['svg', ' \r\n\t<svg>'],
    ['svg', '\ufeff\n<svg>'],
    ['svg', '<?xml version="1.0"?>\n<svg >'],
    ['svg', '<!-- drawn by hand --><svg>'],
    ['svg', '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN">'],
    ['svg', '<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "b">]>'],
    ['svg', `<!--${'x'.repeat(1_000)}--><svg>`],
    [null, `<!--${'x'.repeat(1_024)}--><svg>`],
    [null, '<svgs>'],
    [null, '<?xml version="1.0"?><svgs>'],
    [null, '<?xml version="1.0"?><rss>'],
    [null, '<!-- a page --><p>'],
    [null, '<!DOCTYPE html><svg>'],
    [null, '<html><svg></svg></html>'],
    [null, 'not <svg>'],
    [null, 'no<svg>'],
  ])('is %s for the document %j', ([type, text]) => {
    expect(sniffImage(Buffer.from(text))).toBe(type);
  });
});

describe('The difference hash', () => {
  /** 9 x 8 pixels of one tone, and one pixel that differs from it. */
  const grey = (at = 0, difference = 0): Uint8Array => {
    const pixels = new Uint8Array(72).fill(100);
    pixels[at] = 100 + difference;
    return pixels;
  };

  it.for<[what: string, row: number, column: number, bit: bigint]>([
    ['first', 0, 0, 63n],
    ['last of the first row', 0, 7, 56n],
    ['first of the second row', 1, 0, 55n],
    ['one in the middle', 3, 2, 37n],
    ['last', 7, 7, 0n],
  ])('has a bit for each pixel with a darker neighbour on its right: the %s', ([, row, column, bit]) => {
    expect(differenceHash(grey(row * 9 + column, 50))).toBe(BigInt.asIntN(64, 1n << bit));
  });

  it('takes differences of less than 3 tones of 256 for noise', () => {
    expect(differenceHash(grey(0, 3))).not.toBeNull();
    expect(differenceHash(grey(0, 2))).toBeNull();
  });

  it.for<[what: string, pixels: Uint8Array]>([
    ['is of one tone', grey()],
    ['only becomes brighter to the right', Uint8Array.from({ length: 72 }, (_, at) => (at % 9) * 20)],
    ['only becomes darker to the right', Uint8Array.from({ length: 72 }, (_, at) => 200 - (at % 9) * 20)],
  ])('is null for a picture that %s: all such pictures would have the same', ([, pixels]) => {
    expect(differenceHash(pixels)).toBeNull();
  });
});
