/** Pictures whose structure lets programs show different pictures: none of them is shown to a reviewer. */
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import {
  box,
  bytes,
  concat,
  flat,
  iccSegment,
  little,
  PNG_SIGNATURE,
  pngChunk,
  profileOf,
  shownColour,
  swappedProfile,
  uint16,
  uint32,
  useDecoder,
} from '#test/support/picture-parts.ts';

const SIDE = 64;
const [RED, GREEN] = ['#c81e1e', '#1ec81e'];
const full = (type: string, ...parts: Buffer[]) => box(type, uint32(0), ...parts);
const decode = useDecoder();

/** What an item of an AVIF consists of. */
const itemOf = async (background: string, width = SIDE) => {
  const whole = await flat(background, SIDE)
    .resize(width, SIDE, { fit: 'fill' })
    .avif({ quality: 80 })
    .toBuffer();
  const boxAt = (type: string) => {
    const start = whole.indexOf(type) - 4;
    return whole.subarray(start, start + whole.readUInt32BE(start));
  };
  return { data: boxAt('mdat').subarray(8), properties: ['av1C', 'ispe', 'pixi'].map(boxAt) };
};
type Item = { type?: string; data: Buffer; properties: Buffer[] };

/** An AVIF of these items, whose first one is shown. */
const avif = (items: Item[], references: Buffer[] = [], extra: Buffer[] = []): Buffer => {
  const ftyp = box('ftyp', Buffer.from('avif'), uint32(0), Buffer.from('mif1avifmiaf'));
  const properties = items.flatMap((item) => item.properties);
  let index = 0;
  const associations = items.map((item, n) => {
    const indices = item.properties.map(() => bytes(0x80 | ++index));
    return concat(uint16(n + 1), bytes(indices.length), ...indices);
  });
  const head = (start: number): Buffer => {
    let at = start;
    const places = items.map(({ data }, n) => {
      at += data.length;
      return concat(uint16(n + 1, 0, 1), uint32(at - data.length, data.length));
    });
    const infe = items.map(({ type = 'av01' }, n) =>
      box('infe', uint32(2 << 24), uint16(n + 1, 0), Buffer.from(`${type}\0`)),
    );
    return concat(
      ftyp,
      full(
        'meta',
        full('hdlr', uint32(0), Buffer.from('pict'), uint32(0, 0, 0), bytes(0)),
        full('pitm', uint16(1)),
        full('iloc', bytes(0x44, 0), uint16(items.length), ...places),
        full('iinf', uint16(items.length), ...infe),
        box('iprp', box('ipco', ...properties), full('ipma', uint32(items.length), ...associations)),
        ...(references.length === 0 ? [] : [full('iref', ...references)]),
        ...extra,
      ),
    );
  };
  const data = items.map((item) => item.data);
  return concat(head(head(0).length + 8), box('mdat', ...data));
};

/**
 * Two frames. The size of a unit that decoders skip has six bytes: read by five of them, the unit ends one byte earlier, and
 * what begins there skips the second frame.
 */
const hidden = (one: Item, other: Item): Item => {
  const [skipped, more] = [0x4a, 0x80];
  const size = bytes(more | (27 + other.data.length), more, more, more, 0);
  const tail = concat(Buffer.alloc(skipped - 1, 1), bytes(skipped), size, Buffer.alloc(21, 1));
  const first = concat(bytes(skipped, more | 4, more, more, more, more, 0), bytes(1, 1, 1, skipped));
  return { ...one, data: concat(one.data, first, bytes(skipped, tail.length), tail, other.data) };
};

const [SRGB, LINEAR] = [
  [1, 13],
  [1, 8],
];
/** The same frame, whose sequence header names linear light in the place of sRGB. */
const inLight = ({ data, properties }: Item): Item => {
  const toBits = (all: Iterable<number>): string =>
    Array.from(all, (byte) => byte.toString(2).padStart(8, '0')).join('');
  const bits = toBits(data);
  const changed = bits.replace(toBits(SRGB), toBits(LINEAR));
  expect(changed).not.toBe(bits);
  return {
    data: Buffer.from(changed.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? []),
    properties,
  };
};

test('an AVIF of several frames, pictures or layers is not shown, nor one that is cropped or turned', async () => {
  const [red, green] = [await itemOf(RED), await itemOf(GREEN)];
  const withProperty = (...more: Buffer[]) => avif([{ ...red, properties: [...red.properties, ...more] }]);
  const auxiliary = (name: string) => full('auxC', Buffer.from(`urn:mpeg:${name}\0`));
  const withAlpha = (name: string) =>
    avif(
      [red, { ...green, properties: [...green.properties, auxiliary(name)] }],
      [box('auxl', uint16(2, 1, 1))],
    );
  expect(await decode(avif([red]))).toBe(1);
  expect(await decode(withAlpha('mpegB:cicp:systems:auxiliary:alpha'))).toBe(1);
  const grid = { type: 'grid', data: concat(bytes(0, 0, 0, 0), uint16(SIDE, SIDE)), properties: [] };
  const nclx = (transfer: number, primaries = 1, matrix = 6) =>
    box('colr', Buffer.from('nclx'), uint16(primaries, transfer, matrix), bytes(0x80));
  expect(await decode(withProperty(nclx(13)))).toBe(1);
  const odd = {
    frames: avif([{ ...red, data: concat(red.data, green.data) }]),
    hidden: avif([hidden(red, green)]),
    pictures: avif([red, green]),
    group: avif([red, green], [], [box('grpl', full('altr', uint32(9, 2, 2, 1)))]),
    grid: avif([grid, red], [box('dimg', uint16(1, 1, 2))]),
    crop: withProperty(box('clap', uint32(SIDE / 2, 1, SIDE, 1, SIDE / 4, 1, 0, 1))),
    turn: withProperty(box('irot', bytes(1))),
    layer: withProperty(box('lsel', uint16(0))),
    light: withProperty(nclx(16)),
    lightInside: avif([inLight(red)]),
    primaries: withProperty(nclx(13, 10)),
    matrix: withProperty(nclx(13, 1, 3)),
    colours: withProperty(nclx(13), nclx(13)),
    transparency: withAlpha('avc:2015:auxid:1'),
    film: concat(avif([red]), box('moov')),
    rest: concat(avif([red]), uint32(7)),
  };
  for (const [name, file] of Object.entries(odd))
    expect(['ambiguous', 'broken'], name).toContain(await decode(file));
});

test('an AVIF of another encoder setting is shown', async () => {
  const picture = flat(RED)
    .ensureAlpha(0.5)
    .withIccProfile('p3')
    .withExif({ IFD0: { Copyright: 'x' } });
  for (const options of [{ lossless: true }, { chromaSubsampling: '4:2:0' }, { bitdepth: 10 as const }])
    expect(await decode(await picture.clone().avif(options).toBuffer())).toBe(1);
});

/** A PNG of two halves, by the pixels of one line. */
const png = (colourType: number, line: number[], ...chunks: Buffer[]): Buffer =>
  concat(
    PNG_SIGNATURE,
    pngChunk('IHDR', concat(uint32(2, 2), bytes(8, colourType, 0, 0, 0))),
    ...chunks,
    pngChunk('IDAT', deflateSync(bytes(0, ...line, 0, ...line))),
    pngChunk('IEND', Buffer.alloc(0)),
  );
const PALETTE = pngChunk('PLTE', bytes(0, 0, 0, 255, 255, 255));
/** The second number is not in the palette: libvips makes it black, Chromium the last colour. */
const BEYOND = png(3, [2, 0], PALETTE);
const RGB = [200, 30, 30, 30, 200, 30];
const LONG = png(2, RGB, pngChunk('tRNS', Buffer.concat([uint16(200, 30, 30), uint16(0)])));
const frameControl = (side: number) => concat(uint32(0, side, side, 0, 0), bytes(0, 1, 0, 100, 0, 0));
/** Its first frame has another size: Chromium shows nothing. */
const UNFIT = png(2, RGB, pngChunk('acTL', uint32(1, 0)), pngChunk('fcTL', frameControl(1)));

test('a PNG with a broken chunk, a transparency of another length or a colour beyond its palette is not shown', async () => {
  expect(await decode(png(3, [1, 0], PALETTE, pngChunk('tRNS', bytes(0))))).toBe(1);
  expect(await decode(png(2, RGB, pngChunk('tRNS', uint16(200, 30, 30))))).toBe(1);
  const control = frameControl(2);
  expect(await decode(png(2, RGB, pngChunk('acTL', uint32(1, 0)), pngChunk('fcTL', control)))).toBe(1);
  const odd = [
    BEYOND,
    LONG,
    png(3, [1, 0], PALETTE, pngChunk('tRNS', bytes(0, 0, 0))),
    png(2, RGB, pngChunk('acTL', uint32(1, 0)), pngChunk('fcTL', control, false)),
    UNFIT,
    png(2, RGB, pngChunk('PLTE', Buffer.alloc(3 * 257))),
    png(2, RGB, pngChunk('acTL', uint32(2, 0)), pngChunk('acTL', uint32(1, 0)), pngChunk('fcTL', control)),
  ];
  for (const file of odd) expect(await decode(file)).toBe('ambiguous');
});

/** A PNG with a profile that libvips refuses, of which Chromium makes blue of red. */
const refusedProfile = async (
  where: number,
  what: string | Buffer,
  colourType = 2,
  line = RGB,
): Promise<Buffer> => {
  const profile = await swappedProfile();
  profile.set(Buffer.from(what), where);
  return png(colourType, line, pngChunk('iCCP', concat(Buffer.from('x\0\0'), deflateSync(profile))));
};
const [CLASS_AT, SPACE_AT, INTENT_AT] = [12, 16, 64];

test('a PNG with a profile that libvips refuses is not shown', async () => {
  const refused = [
    await refusedProfile(CLASS_AT, 'abst'),
    await refusedProfile(CLASS_AT, 'link'),
    await refusedProfile(SPACE_AT, 'Lab '),
    await refusedProfile(INTENT_AT, uint32(0x1_00_00)),
    // A profile of three colours, in a picture of greys.
    await refusedProfile(CLASS_AT, 'mntr', 0, [40, 60]),
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
  const picture = flat(RED, SIDE).ensureAlpha(0);
  const webp = await picture.webp({ lossless: true, exact: true }).toBuffer();
  const lossless = Buffer.from(webp.subarray(webp.indexOf('VP8L')));
  lossless.writeUInt8(lossless.readUInt8(12) & ~0x10, 12);
  return riff(lossless);
};

test('a WebP with a transparency that it does not say is not shown', async () => {
  expect(await decode(await flat(RED).ensureAlpha(0.5).webp({ lossless: true }).toBuffer())).toBe(1);
  expect(await decode(await flat(RED).withIccProfile('p3').webp({ lossless: true }).toBuffer())).toBe(1);
  expect(await decode(await flat(RED).withIccProfile('p3').webp().toBuffer())).toBe(1);
  expect(await decode(await secretlyTransparent())).toBe('ambiguous');
});

/** A JPEG with profiles behind a marker that has no length. */
const jpegWith = async (...profiles: Buffer[]): Promise<Buffer> => {
  const jpeg = await flat().jpeg({ quality: 95 }).toBuffer();
  return concat(jpeg.subarray(0, 2), bytes(0xff, 0x01), ...profiles.map(iccSegment), jpeg.subarray(2));
};
const twoProfiles = async () => jpegWith(await swappedProfile(), await profileOf('srgb'));

test('a JPEG of inks, or with a second profile behind a bare marker, is not shown', async () => {
  expect(await decode(await flat().toColourspace('cmyk').jpeg().toBuffer())).toBe('ambiguous');
  expect(await decode(await twoProfiles())).toBe('ambiguous');
  expect(await decode(await jpegWith(Buffer.alloc(10)))).toBe('ambiguous');
});

describe.runIf(hasBrowser())('Chromium', () => {
  const browser = useBrowser();

  test('shows another picture than libvips', async () => {
    const page = await browser.newPage();
    const [red, green] = [await itemOf(RED), await itemOf(GREEN)];
    const frames = avif([{ ...green, data: concat(green.data, red.data) }]);
    const cases: [Buffer, string][] = [
      [frames, 'avif'],
      [avif([hidden(green, red)]), 'avif'],
      [avif([inLight(red)]), 'avif'],
      [BEYOND, 'png'],
      [LONG, 'png'],
      [UNFIT, 'png'],
      [await refusedProfile(CLASS_AT, 'abst'), 'png'],
      [gif(graphicControl([0]), graphicControl([])), 'gif'],
      [await secretlyTransparent(), 'webp'],
      [await twoProfiles(), 'jpeg'],
    ];
    for (const [file, type] of cases) {
      const own = await sharp(file).flatten({ background: '#fff' }).toColourspace('srgb').raw().toBuffer();
      const differs = (await shownColour(page, file, type)).some(
        (tone, n) => Math.abs(tone - (own[n] ?? 0)) > 60,
      );
      expect(differs, type).toBe(true);
    }
  });
});
