/** Pictures whose structure lets programs show different pictures: none of them is shown to a reviewer. */
import { describe, expect, test } from 'vitest';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import {
  bytes,
  concat,
  cornerDifference,
  flat,
  iccChunk,
  jpegWith,
  little,
  pngChunk,
  pngOf,
  profileOf,
  SIDE,
  swappedProfile,
  uint16,
  uint32,
  useDecoder,
  withSegments,
} from '#test/support/picture-parts.ts';

const decode = useDecoder();

const PALETTE = pngChunk('PLTE', bytes(0, 0, 0, 255, 255, 255));
/** The second number is not in the palette: libvips makes it black, Chromium the last colour. */
const BEYOND = pngOf([2], { colourType: 3, before: [PALETTE] });
const RGB = [200, 30, 30];
const png = (...before: Buffer[]): Buffer => pngOf(RGB, { before });
const LONG = png(pngChunk('tRNS', uint16(...RGB, 0)));
/** Black of two bits, in which 4 is no tone: libvips makes its pixels transparent, Chromium does not. */
const ABOVE = pngOf([0], { depth: 2, colourType: 0, before: [pngChunk('tRNS', uint16(4))] });
const frameControl = (side: number) => concat(uint32(0, side, side, 0, 0), bytes(0, 1, 0, 100, 0, 0));
/** Its first frame has another size: Chromium shows nothing. */
const UNFIT = png(pngChunk('acTL', uint32(1, 0)), pngChunk('fcTL', frameControl(1)));

test('a PNG with a broken chunk, a transparency of another length or tone, or a colour beyond its palette is not shown', async () => {
  expect(await decode(pngOf([1], { colourType: 3, before: [PALETTE, pngChunk('tRNS', bytes(0))] }))).toBe(1);
  expect(await decode(png(pngChunk('tRNS', uint16(...RGB))))).toBe(1);
  const control = frameControl(SIDE);
  expect(await decode(png(pngChunk('acTL', uint32(1, 0)), pngChunk('fcTL', control)))).toBe(1);
  const odd = [
    BEYOND,
    LONG,
    ABOVE,
    pngOf([1], { colourType: 3, before: [PALETTE, pngChunk('tRNS', bytes(0, 0, 0))] }),
    png(pngChunk('acTL', uint32(1, 0)), pngChunk('fcTL', control, false)),
    UNFIT,
    png(pngChunk('PLTE', Buffer.alloc(3 * 257))),
    png(pngChunk('acTL', uint32(2, 0)), pngChunk('acTL', uint32(1, 0)), pngChunk('fcTL', control)),
  ];
  for (const file of odd) expect(await decode(file)).toBe('ambiguous');
});

/** A PNG with a profile that libvips refuses, of which Chromium makes blue of red. */
const refusedProfile = async (
  where: number,
  what: string | Buffer,
  colourType = 2,
  pixel = RGB,
): Promise<Buffer> => {
  const profile = await swappedProfile();
  profile.set(Buffer.from(what), where);
  return pngOf(pixel, { colourType, before: [iccChunk(profile)] });
};
const [CLASS_AT, SPACE_AT, INTENT_AT] = [12, 16, 64];

test('a PNG with a profile that libvips refuses is not shown', async () => {
  const refused = [
    await refusedProfile(CLASS_AT, 'abst'),
    await refusedProfile(CLASS_AT, 'link'),
    await refusedProfile(SPACE_AT, 'Lab '),
    await refusedProfile(INTENT_AT, uint32(0x1_00_00)),
    // A profile of three colours, in a picture of greys.
    await refusedProfile(CLASS_AT, 'mntr', 0, [40]),
  ];
  for (const file of refused) expect(await decode(file)).toBe('ambiguous');
});

const GIF_COLOURS = bytes(200, 30, 30, 30, 200, 30, 0, 0, 0, 255, 255, 255);
const graphicControl = (transparent: number[]) =>
  bytes(0x21, 0xf9, 4, transparent.length, 10, 0, transparent[0] ?? 0, 0);
/** A red GIF of one pixel. */
const gif = (...extensions: Buffer[]): Buffer =>
  concat(
    Buffer.from('GIF89a'),
    bytes(1, 0, 1, 0, 0x91, 0, 0),
    GIF_COLOURS,
    ...extensions,
    bytes(0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3b),
  );

test('a GIF of which programs take different controls is not shown', async () => {
  const comment = bytes(0x21, 0xfe, 1, 65, 0);
  expect(await decode(gif())).toBe(1);
  expect(await decode(gif(graphicControl([0]), comment))).toBe(1);
  expect(await decode(gif(graphicControl([0]), comment, graphicControl([])))).toBe('ambiguous');
});

const riff = (...chunks: Buffer[]): Buffer => {
  const data = concat(Buffer.from('WEBP'), ...chunks);
  return concat(Buffer.from('RIFF'), little(4, data.length), data);
};
/** A red WebP that is transparent, and says that it is not. */
const secretlyTransparent = async (): Promise<Buffer> => {
  const picture = flat().ensureAlpha(0);
  const webp = await picture.webp({ lossless: true, exact: true }).toBuffer();
  const lossless = Buffer.from(webp.subarray(webp.indexOf('VP8L')));
  lossless.writeUInt8(lossless.readUInt8(12) & ~0x10, 12);
  return riff(lossless);
};

test('a WebP with a transparency that it does not say is not shown', async () => {
  expect(await decode(await flat().ensureAlpha(0.5).webp({ lossless: true }).toBuffer())).toBe(1);
  expect(await decode(await flat().withIccProfile('p3').webp({ lossless: true }).toBuffer())).toBe(1);
  expect(await decode(await flat().withIccProfile('p3').webp().toBuffer())).toBe(1);
  expect(await decode(await secretlyTransparent())).toBe('ambiguous');
});

test('a WebP that ends in a cut chunk after an odd one is shown', async () => {
  const picture = await flat().webp({ lossless: true }).toBuffer();
  const odd = concat(Buffer.from('JUNK'), little(4, 1), bytes(0, 0));
  const cut = concat(Buffer.from('VP8L'), little(4, 100), Buffer.alloc(4));
  expect(await decode(riff(picture.subarray(12), odd, cut))).toBe(1);
});

/** A JPEG with two profiles behind a marker that has no length. */
const twoProfiles = async (): Promise<Buffer> =>
  withSegments(await jpegWith(await swappedProfile(), await profileOf('srgb')), bytes(0xff, 0x01));

test('a JPEG of inks, or with a second profile behind a bare marker, is not shown', async () => {
  expect(await decode(await flat().toColourspace('cmyk').jpeg().toBuffer())).toBe('ambiguous');
  expect(await decode(await twoProfiles())).toBe('ambiguous');
  expect(await decode(await jpegWith(Buffer.alloc(10)))).toBe('ambiguous');
});

describe.runIf(hasBrowser())('Chromium', () => {
  const browser = useBrowser();

  test('shows another picture than libvips', async () => {
    const page = await browser.newPage();
    const cases: [Buffer, string][] = [
      [BEYOND, 'png'],
      [LONG, 'png'],
      [ABOVE, 'png'],
      [UNFIT, 'png'],
      [await refusedProfile(CLASS_AT, 'abst'), 'png'],
      [gif(graphicControl([0]), graphicControl([])), 'gif'],
      [await secretlyTransparent(), 'webp'],
      [await twoProfiles(), 'jpeg'],
    ];
    for (const [file, type] of cases)
      expect(await cornerDifference(page, file, type), type).toBeGreaterThan(60);
  });
});
