/** Pictures of which a browser shows something else than libvips does: the reviewer would not see what players see. */
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDecoder, type Decoder } from '#src/pictures/decoder.ts';
import { sniffImage } from '#src/rules/pictures.ts';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { aPicture } from '#test/support/pictures.ts';

const SIDE = 16;
const RED = [200, 30, 30];
const GREEN = [30, 200, 30];

const uint32 = (...numbers: number[]): Buffer => {
  const bytes = Buffer.alloc(4 * numbers.length);
  for (const [n, number] of numbers.entries()) bytes.writeUInt32BE(number, 4 * n);
  return bytes;
};
const chunk = (type: string, data: Buffer): Buffer => {
  const named = Buffer.concat([Buffer.from(type), data]);
  return Buffer.concat([uint32(data.length), named, uint32(crc32(named))]);
};
const rowsOf = (colour: number[]): Buffer =>
  deflateSync(
    Buffer.from(Array.from({ length: SIDE }, () => [0, ...Array(SIDE).fill(colour).flat()]).flat()),
  );
const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const HEADER = chunk('IHDR', Buffer.concat([uint32(SIDE, SIDE), Buffer.from([8, 2, 0, 0, 0])]));
/** A red PNG with these chunks before its pixels, and after them. */
const png = (before: Buffer[], after: Buffer[] = []): Buffer =>
  Buffer.concat([
    SIGNATURE,
    HEADER,
    ...before,
    chunk('IDAT', rowsOf(RED)),
    ...after,
    chunk('IEND', Buffer.alloc(0)),
  ]);
const control = (n: number): Buffer =>
  chunk('fcTL', Buffer.concat([uint32(n, SIDE, SIDE, 0, 0), Buffer.from([0, 1, 0, 100, 0, 0])]));
const frame = (n: number): Buffer => chunk('fdAT', Buffer.concat([uint32(n), rowsOf(GREEN)]));
const animation = (frames: number): Buffer => chunk('acTL', uint32(frames, 0));

const flat = () =>
  sharp({ create: { width: SIDE, height: SIDE, channels: 3, background: { r: 200, g: 30, b: 30 } } });
/** An APP2 segment: a part of a profile. */
const segment = (profile: Buffer): Buffer => {
  const data = Buffer.concat([Buffer.from('ICC_PROFILE\0\u0001\u0001'), profile]);
  const head = Buffer.from([0xff, 0xe2, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
};
const jpegWith = async (...profiles: Buffer[]): Promise<Buffer> => {
  const plain = await flat().jpeg({ quality: 95 }).toBuffer();
  return Buffer.concat([plain.subarray(0, 2), ...profiles.map(segment), plain.subarray(2)]);
};
const profileOf = async (name: 'srgb' | 'p3'): Promise<Buffer> =>
  Buffer.from((await sharp(await flat().withIccProfile(name).jpeg().toBuffer()).metadata()).icc ?? []);
/** A profile in which red is blue. */
const swapped = async (): Promise<Buffer> => {
  const profile = await profileOf('srgb');
  const [red, blue] = [profile.indexOf('rXYZ'), profile.indexOf('bXYZ')];
  profile.write('bXYZ', red);
  profile.write('rXYZ', blue);
  return profile;
};

let decoder: Decoder;
beforeAll(() => {
  decoder = createDecoder();
});
afterAll(() => decoder.close());
const decode = async (bytes: Buffer) => {
  const format = sniffImage(bytes);
  if (format === null || format === 'svg') throw new Error('no picture');
  const decoded = await decoder.decode({ bytes, format });
  return decoded.outcome === 'shown' ? decoded.frames : decoded.outcome;
};

const HIDDEN = png([animation(1)], [control(0), frame(1)]);
const DARK = png([chunk('gAMA', uint32(1_000))]);
const BLUE = png([
  chunk('gAMA', uint32(45_455)),
  chunk('cHRM', uint32(31_270, 32_900, 15_000, 6_000, 30_000, 60_000, 64_000, 33_000)),
]);

test('frames of an animated PNG count, and a still picture that the animation does not have', async () => {
  expect(await decode(png([]))).toBe(1);
  expect(await decode(png([animation(2), control(0)], [control(1), frame(2)]))).toBe(2);
  expect(await decode(HIDDEN)).toBe(2);
});

test('a PNG whose chunks make other colours of its pixels is not shown', async () => {
  expect(await decode(DARK)).toBe('other_colours');
  expect(await decode(BLUE)).toBe('other_colours');
  expect(await decode(png([chunk('cICP', Buffer.from([9, 16, 0, 1]))]))).toBe('other_colours');
  expect(await decode(png([chunk('gAMA', Buffer.alloc(0))]))).toBe('other_colours');
});

test('a profile that programs apply differently is not shown', async () => {
  const [usual, hostile] = [await profileOf('srgb'), await swapped()];
  const abstract = Buffer.from(hostile);
  abstract.write('abst', 12);
  for (const profiles of [[hostile], [abstract], [hostile, usual], [usual, hostile]])
    expect(await decode(await jpegWith(...profiles))).toBe('other_colours');
  const icc = Buffer.concat([Buffer.from('x\0\0'), deflateSync(hostile)]);
  expect(await decode(png([chunk('iCCP', icc)]))).toBe('other_colours');
});

test('usual profiles, gammas and primaries are shown, in each format', async () => {
  const picture = sharp(await aPicture(3));
  for (const profile of ['srgb', 'p3', 'cmyk'] as const)
    expect(await decode(await picture.clone().withIccProfile(profile).jpeg().toBuffer()), profile).toBe(1);
  for (const format of ['png', 'webp', 'avif'] as const)
    expect(await decode(await picture.clone().withIccProfile('p3').toFormat(format).toBuffer())).toBe(1);
  expect(await decode(await picture.clone().greyscale().png().toBuffer())).toBe(1);
  for (const gamma of [45_455, 55_556, 100_000])
    expect(await decode(png([chunk('gAMA', uint32(gamma))]))).toBe(1);
  const wide = [34_567, 35_850, 73_470, 26_530, 15_960, 84_040, 3_660, 10];
  expect(await decode(png([chunk('cHRM', uint32(...wide))]))).toBe(1);
});

describe.runIf(hasBrowser())('Chromium', () => {
  const browser = useBrowser();

  test('shows these pictures in other colours than their pixels have', async () => {
    const page = await browser.newPage();
    const shown = async (bytes: Buffer, type: string) => {
      await page.setContent(`<img src="data:image/${type};base64,${bytes.toString('base64')}">`);
      const pixels = await sharp(await page.locator('img').screenshot())
        .raw()
        .toBuffer();
      return [...pixels.subarray(0, 3)];
    };
    expect(await shown(png([]), 'png')).toEqual(RED);
    expect(await shown(HIDDEN, 'png')).toEqual(GREEN);
    expect(await shown(DARK, 'png')).toEqual([0, 0, 0]);
    const [, , blue] = await shown(BLUE, 'png');
    expect(blue).toBeGreaterThan(150);
  });
});
