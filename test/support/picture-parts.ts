/** Parts of pictures, for pictures that no encoder makes, and what the decoder and a browser make of them. */
import { crc32 } from 'node:zlib';
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

export const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
export const pngChunk = (type: string, data: Buffer, isIntact = true): Buffer => {
  const named = Buffer.concat([Buffer.from(type), data]);
  return Buffer.concat([
    uint32(data.length),
    named,
    uint32(isIntact ? crc32(named) : (crc32(named) ^ 1) >>> 0),
  ]);
};

/** A box of ISO media: AVIF. */
export const box = (type: string, ...parts: Buffer[]): Buffer => {
  const data = Buffer.concat(parts);
  return Buffer.concat([uint32(data.length + 8), Buffer.from(type), data]);
};

/** An APP2 segment of a JPEG: a colour profile. */
export const iccSegment = (profile: Buffer): Buffer => {
  const data = Buffer.concat([Buffer.from('ICC_PROFILE\0\u0001\u0001'), profile]);
  return Buffer.concat([Buffer.from([0xff, 0xe2]), uint16(data.length + 2), data]);
};

export const flat = (background = '#c81e1e', side = 16) =>
  sharp({ create: { width: side, height: side, channels: 3, background } });
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
