import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDecoder, type Decoder } from '#src/pictures/decoder.ts';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import {
  bytes,
  concat,
  PNG_SIGNATURE,
  pngChunk,
  profileOf,
  shownColour,
  uint32,
} from '#test/support/picture-parts.ts';

const SIDE = 32;

/** A PNG of 16 bits with a colour profile. */
const png = (profile: Buffer, pixel: number[]): Buffer => {
  const row = bytes(
    0,
    ...Array(SIDE)
      .fill(pixel.flatMap((tone) => [tone, tone]))
      .flat(),
  );
  return concat(
    PNG_SIGNATURE,
    pngChunk('IHDR', concat(uint32(SIDE, SIDE), bytes(16, pixel.length === 4 ? 6 : 2, 0, 0, 0))),
    pngChunk('iCCP', concat(Buffer.from('x\0\0'), deflateSync(profile))),
    pngChunk('IDAT', deflateSync(concat(...Array(SIDE).fill(row)))),
    pngChunk('IEND', Buffer.alloc(0)),
  );
};

describe.runIf(hasBrowser())('a PNG of 16 bits with a profile', () => {
  const browser = useBrowser();
  let decoder: Decoder;
  beforeAll(() => {
    decoder = createDecoder();
  });
  afterAll(() => decoder.close());

  test.for([
    ['srgb', [200, 30, 30]],
    ['srgb', [40, 90, 160, 255]],
    ['p3', [120, 110, 100]],
  ] as const)('of %s has the colours in its thumbnails that Chromium shows', async ([name, pixel]) => {
    const file = png(await profileOf(name), [...pixel]);
    const decoded = await decoder.decode({ bytes: file, format: 'png' });
    if (decoded.outcome !== 'shown') throw new Error(decoded.outcome);
    const page = await browser.newPage();
    const shown = await shownColour(page, file, 'png');
    for (const { webp } of decoded.thumbnails) {
      const own = await sharp(webp).raw().toBuffer();
      const difference = Math.max(...shown.map((tone, n) => Math.abs(tone - (own[n] ?? 0))));
      expect(difference).toBeLessThan(5);
    }
    await page.close();
  });
});
