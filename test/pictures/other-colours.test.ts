/** Pictures of which a browser shows something else than libvips does: the reviewer would not see what players see. */
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import {
  iccChunk,
  jpegWith,
  pngChunk,
  pngOf,
  pngPixels,
  profileOf,
  SIDE,
  shownColour,
  swappedProfile,
  uint32,
  useDecoder,
} from '#test/support/picture-parts.ts';
import { aPicture } from '#test/support/pictures.ts';

const RED = [200, 30, 30];
const GREEN = [30, 200, 30];

/** A red PNG with these chunks before its pixels, and after them. */
const png = (before: Buffer[], after: Buffer[] = []): Buffer => pngOf(RED, { before, after });
const control = (n: number): Buffer =>
  pngChunk('fcTL', Buffer.concat([uint32(n, SIDE, SIDE, 0, 0), Buffer.from([0, 1, 0, 100, 0, 0])]));
const frame = (n: number): Buffer => pngChunk('fdAT', Buffer.concat([uint32(n), pngPixels(GREEN)]));
const animation = (frames: number): Buffer => pngChunk('acTL', uint32(frames, 0));

const decode = useDecoder();

const HIDDEN = png([animation(1)], [control(0), frame(1)]);
const DARK = png([pngChunk('gAMA', uint32(1_000))]);
/** Primaries nearly on one line: a browser makes black of a grey that has two tones more of green. */
const ON_A_LINE = pngOf([128, 130, 128], {
  before: [
    pngChunk('gAMA', uint32(45_455)),
    pngChunk('cHRM', uint32(31_270, 32_900, 42_000, 32_090, 30_000, 32_500, 16_000, 33_000)),
  ],
});
const BLUE = png([
  pngChunk('gAMA', uint32(45_455)),
  pngChunk('cHRM', uint32(31_270, 32_900, 15_000, 6_000, 30_000, 60_000, 64_000, 33_000)),
]);

test('frames of an animated PNG count, and a still picture that the animation does not have', async () => {
  expect(await decode(png([]))).toBe(1);
  expect(await decode(png([animation(2), control(0)], [control(1), frame(2)]))).toBe(2);
  expect(await decode(HIDDEN)).toBe(2);
});

test('a PNG whose chunks make other colours of its pixels is not shown', async () => {
  expect(await decode(DARK)).toBe('ambiguous');
  expect(await decode(BLUE)).toBe('ambiguous');
  expect(await decode(ON_A_LINE)).toBe('ambiguous');
  // Linear light: tones of 0 and 3 would be those of 0 and 27.
  expect(await decode(png([pngChunk('gAMA', uint32(100_000))]))).toBe('ambiguous');
  expect(await decode(png([pngChunk('cICP', Buffer.from([9, 16, 0, 1]))]))).toBe('ambiguous');
  expect(await decode(png([pngChunk('gAMA', Buffer.alloc(0))]))).toBe('ambiguous');
});

test('a profile that programs apply differently is not shown', async () => {
  const [usual, hostile] = [await profileOf('srgb'), await swappedProfile()];
  const abstract = Buffer.from(hostile);
  abstract.write('abst', 12);
  for (const profiles of [[hostile], [abstract], [hostile, usual], [usual, hostile]])
    expect(await decode(await jpegWith(...profiles))).toBe('ambiguous');
  expect(await decode(png([iccChunk(hostile)]))).toBe('ambiguous');
});

test('usual profiles, gammas and primaries are shown, in each format', async () => {
  const picture = sharp(await aPicture(3));
  for (const profile of ['srgb', 'p3'] as const)
    expect(await decode(await picture.clone().withIccProfile(profile).jpeg().toBuffer()), profile).toBe(1);
  for (const format of ['png', 'webp', 'avif'] as const)
    expect(await decode(await picture.clone().withIccProfile('p3').toFormat(format).toBuffer())).toBe(1);
  expect(await decode(await picture.clone().greyscale().png().toBuffer())).toBe(1);
  for (const gamma of [45_455, 55_556]) expect(await decode(png([pngChunk('gAMA', uint32(gamma))]))).toBe(1);
  const D65 = [31_270, 32_900];
  for (const primaries of [
    [...D65, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000],
    [...D65, 68_000, 32_000, 26_500, 69_000, 15_000, 6_000],
    [...D65, 64_000, 33_000, 21_000, 71_000, 15_000, 6_000],
    [...D65, 70_800, 29_200, 17_000, 79_700, 13_100, 4_600],
    [31_000, 31_600, 67_000, 33_000, 21_000, 71_000, 14_000, 8_000],
    [34_567, 35_850, 73_470, 26_530, 15_960, 84_040, 3_660, 10],
  ])
    expect([primaries, await decode(png([pngChunk('cHRM', uint32(...primaries))]))]).toEqual([primaries, 1]);
});

describe.runIf(hasBrowser())('Chromium', () => {
  const browser = useBrowser();

  test('shows these pictures in other colours than their pixels have', async () => {
    const page = await browser.newPage();
    const shown = (bytes: Buffer, type: string) => shownColour(page, bytes, type);
    expect(await shown(png([]), 'png')).toEqual(RED);
    expect(await shown(HIDDEN, 'png')).toEqual(GREEN);
    expect(await shown(DARK, 'png')).toEqual([0, 0, 0]);
    const [, , blue] = await shown(BLUE, 'png');
    expect(blue).toBeGreaterThan(150);
    expect((await shown(ON_A_LINE, 'png')).every((tone) => tone < 64)).toBe(true);
  });
});
