/** Parts of pictures, for pictures that no encoder makes, and what the decoder and a browser make of them. */
import { crc32, deflateSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll } from 'vitest';
import { createDecoder, type Decoder } from '#src/pictures/decoder.ts';
import { sniffImage } from '#src/rules/pictures.ts';

export const concat = (...parts: Buffer[]): Buffer => Buffer.concat(parts);
export const bytes = (...numbers: number[]): Buffer => Buffer.from(numbers);

const joined = (numbers: readonly number[], bytes: number, little = false): Buffer => {
  const buffer = Buffer.alloc(bytes * numbers.length);
  for (const [n, number] of numbers.entries()) {
    if (little) buffer.writeUIntLE(number, bytes * n, bytes);
    else buffer.writeUIntBE(number, bytes * n, bytes);
  }
  return buffer;
};
export const uint32 = (...numbers: number[]): Buffer => joined(numbers, 4);
export const uint16 = (...numbers: number[]): Buffer => joined(numbers, 2);
export const little = (bytes: number, ...numbers: number[]): Buffer => joined(numbers, bytes, true);

const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
export const pngChunk = (type: string, data: Buffer, isIntact = true): Buffer => {
  const named = Buffer.concat([Buffer.from(type), data]);
  return Buffer.concat([
    uint32(data.length),
    named,
    uint32(isIntact ? crc32(named) : (crc32(named) ^ 1) >>> 0),
  ]);
};

/** The width and height of the pictures that are made here. */
export const SIDE = 16;

/** Compresses pixels of one colour, as a PNG has them. */
export const pngPixels = (pixel: readonly number[]): Buffer =>
  deflateSync(
    bytes(
      ...Array(SIDE)
        .fill([0, ...Array(SIDE).fill(pixel).flat()])
        .flat(),
    ),
  );
type PngParts = { depth?: number; colourType?: number; before?: Buffer[]; after?: Buffer[] };
/** A PNG of one colour, with chunks before its pixels and after them. */
export const pngOf = (
  pixel: readonly number[],
  { depth = 8, colourType = 2, before = [], after = [] }: PngParts = {},
): Buffer =>
  concat(
    PNG_SIGNATURE,
    pngChunk('IHDR', concat(uint32(SIDE, SIDE), bytes(depth, colourType, 0, 0, 0))),
    ...before,
    pngChunk('IDAT', pngPixels(pixel)),
    ...after,
    pngChunk('IEND', Buffer.alloc(0)),
  );
/** A chunk of a PNG: a colour profile. */
export const iccChunk = (profile: Buffer): Buffer =>
  pngChunk('iCCP', concat(Buffer.from('x\0\0'), deflateSync(profile)));

/** A box of ISO media: AVIF. */
export const box = (type: string, ...parts: Buffer[]): Buffer => {
  const data = Buffer.concat(parts);
  return Buffer.concat([uint32(data.length + 8), Buffer.from(type), data]);
};

/** An APP2 segment of a JPEG: a colour profile. */
const iccSegment = (profile: Buffer): Buffer => {
  const data = Buffer.concat([Buffer.from('ICC_PROFILE\0\u0001\u0001'), profile]);
  return Buffer.concat([Buffer.from([0xff, 0xe2]), uint16(data.length + 2), data]);
};

/** A JPEG with segments at its begin. */
export const withSegments = (jpeg: Buffer, ...segments: Buffer[]): Buffer =>
  concat(jpeg.subarray(0, 2), ...segments, jpeg.subarray(2));

export const flat = (background = '#c81e1e', side = SIDE) =>
  sharp({ create: { width: side, height: side, channels: 3, background } });
/** A red JPEG with colour profiles. */
export const jpegWith = async (...profiles: Buffer[]): Promise<Buffer> =>
  withSegments(await flat().jpeg({ quality: 95 }).toBuffer(), ...profiles.map(iccSegment));
export const profileOf = async (name: 'srgb' | 'p3'): Promise<Buffer> =>
  Buffer.from((await sharp(await flat().withIccProfile(name).jpeg().toBuffer()).metadata()).icc ?? []);
/** A profile in which red is blue. */
export const swappedProfile = async (): Promise<Buffer> => {
  const profile = await profileOf('srgb');
  const [red, blue] = [profile.indexOf('rXYZ'), profile.indexOf('bXYZ')];
  profile.write('bXYZ', red);
  profile.write('rXYZ', blue);
  return profile;
};

/** A decoder for the tests of a file. @returns the number of frames of a picture that is shown, or why it is not */
export const useDecoder = (): ((bytes: Buffer) => Promise<number | string>) => {
  let decoder: Decoder;
  beforeAll(() => {
    decoder = createDecoder();
  });
  afterAll(() => decoder.close());
  return async (bytes) => {
    const format = sniffImage(bytes);
    if (format === null || format === 'svg') throw new Error('no picture');
    const decoded = await decoder.decode({ bytes, format });
    return decoded.outcome === 'shown' ? decoded.frames : decoded.outcome;
  };
};

/** The colour that a browser shows in the left upper corner of a picture. */
export const shownColour = async (page: Page, bytes: Buffer, type: string): Promise<number[]> => {
  await page.setContent(`<img src="data:image/${type};base64,${bytes.toString('base64')}">`);
  const pixels = await sharp(await page.locator('img').screenshot())
    .raw()
    .toBuffer();
  return [...pixels.subarray(0, 3)];
};

/** How much the colour in the left upper corner differs between a browser and libvips, in the channel that differs most. */
export const cornerDifference = async (page: Page, bytes: Buffer, type: string): Promise<number> => {
  const own = await sharp(bytes).flatten({ background: '#fff' }).toColourspace('srgb').raw().toBuffer();
  const shown = await shownColour(page, bytes, type);
  return Math.max(...shown.map((tone, n) => Math.abs(tone - (own[n] ?? 0))));
};
