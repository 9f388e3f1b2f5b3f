import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDecoder, type Decoder } from '#src/pictures/decoder.ts';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { iccChunk, pngOf, profileOf, shownColour } from '#test/support/picture-parts.ts';

/** A PNG of 16 bits with a colour profile. */
const png = (profile: Buffer, pixel: readonly number[]): Buffer => {
  const colourType = pixel.length === 4 ? 6 : 2;
  const tones = pixel.flatMap((tone) => [tone, tone]);
  return pngOf(tones, { depth: 16, colourType, before: [iccChunk(profile)] });
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
    const file = png(await profileOf(name), pixel);
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
