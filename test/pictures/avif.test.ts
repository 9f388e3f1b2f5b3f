/** AVIFs whose structure lets programs show different pictures: none of them is shown to a reviewer. */
import type { AvifOptions } from 'sharp';
import { describe, expect, test } from 'vitest';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import {
  box,
  bytes,
  concat,
  cornerDifference,
  flat,
  uint16,
  uint32,
  useDecoder,
} from '#test/support/picture-parts.ts';

const SIDE = 64;
const [RED, GREEN] = ['#c81e1e', '#1ec81e'];
const full = (type: string, ...parts: Buffer[]) => box(type, uint32(0), ...parts);
const decode = useDecoder();

/** What an item of an AVIF consists of. */
const itemOf = async (background: string, width = SIDE, options: AvifOptions = { quality: 80 }) => {
  const whole = await flat(background, SIDE).resize(width, SIDE, { fit: 'fill' }).avif(options).toBuffer();
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

/** Colours by number. */
const nclx = (transfer: number, primaries = 1, matrix = 6) =>
  box('colr', Buffer.from('nclx'), uint16(primaries, transfer, matrix), bytes(0x80));
const auxiliary = (name: string) => full('auxC', Buffer.from(`urn:mpeg:${name}\0`));
const ALPHA = 'mpegB:cicp:systems:auxiliary:alpha';
/** The first picture says that it is the transparency of the other one. */
const turned = (one: Item, other: Item): Buffer =>
  avif(
    [{ ...one, properties: [...one.properties, auxiliary(ALPHA)] }, other],
    [box('auxl', uint16(1, 1, 2))],
  );
/** Red, green and blue, of which the AVIF says nothing, and the frame says that they are these. */
const unnamed = async (): Promise<Item> => {
  const { data, properties } = await itemOf(RED, SIDE, { lossless: true });
  return { data, properties: [...properties, nclx(2, 2, 2)] };
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
  const withAlpha = (name: string, { data, properties }: Item = green) =>
    avif([red, { data, properties: [...properties, auxiliary(name)] }], [box('auxl', uint16(2, 1, 1))]);
  expect(await decode(avif([red]))).toBe(1);
  expect(await decode(withAlpha(ALPHA))).toBe(1);
  const grid = { type: 'grid', data: concat(bytes(0, 0, 0, 0), uint16(SIDE, SIDE)), properties: [] };
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
    matrices: withProperty(nclx(13, 1, 0)),
    unnamed: avif([await unnamed()]),
    colours: withProperty(nclx(13), nclx(13)),
    transparency: withAlpha('avc:2015:auxid:1'),
    smallTransparency: withAlpha(ALPHA, await itemOf('#ffffff', SIDE / 2)),
    turned: turned(red, green),
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

describe.runIf(hasBrowser())('Chromium', () => {
  const browser = useBrowser();

  test('shows another picture than libvips', async () => {
    const page = await browser.newPage();
    const [red, green] = [await itemOf(RED), await itemOf(GREEN)];
    const frames = { ...green, data: concat(green.data, red.data) };
    const files = [frames, hidden(green, red), inLight(red), await unnamed()].map((item) => avif([item]));
    for (const file of [...files, turned(red, green)])
      expect(await cornerDifference(page, file, 'avif')).toBeGreaterThan(60);
  });
});
