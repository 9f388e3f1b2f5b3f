/**
 * Colour profiles that describe their colours twice, that libvips does not apply, or that Chromium refuses: browsers show
 * other colours.
 */
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
} from '#test/support/picture-parts.ts';

const decode = useDecoder();

const [HEADER, VERSION_AT, SPACE_AT] = [128, 8, 16];
type Tag = { name: string; data: Buffer };
const tagsOf = (profile: Buffer): Tag[] =>
  Array.from({ length: profile.readUInt32BE(HEADER) }, (_, n) => {
    const at = HEADER + 4 + 12 * n;
    const start = profile.readUInt32BE(at + 4);
    return {
      name: profile.toString('latin1', at, at + 4),
      data: profile.subarray(start, start + profile.readUInt32BE(at + 8)),
    };
  });
/** A profile of version 4 with the header of another one. */
const profileWith = (former: Buffer, tags: Tag[], space = 'RGB '): Buffer => {
  let at = HEADER + 4 + 12 * tags.length;
  const table = tags.map(({ name, data }) => {
    at += data.length;
    return concat(Buffer.from(name), uint32(at - data.length, data.length));
  });
  const header = Buffer.from(former.subarray(0, HEADER));
  header.writeUInt32BE(at);
  header.set([4, 0x40], VERSION_AT);
  header.write(space, SPACE_AT);
  return concat(header, uint32(tags.length), ...table, ...tags.map(({ data }) => data));
};
const tag = (name: string, type: string, ...data: Buffer[]): Tag => {
  const all = concat(Buffer.from(type), uint32(0), ...data);
  return { name, data: concat(all, Buffer.alloc(-all.length & 3)) };
};
const curve = (...points: number[]) => tag('kTRC', 'curv', uint32(points.length), uint16(...points));
/** A table by which red, green and blue are X, Y and Z. */
const table = (name: string): Tag => {
  const identity = curve().data;
  return tag(name, 'mAB ', bytes(3, 3, 0, 0), uint32(32, 0, 0, 0, 0), identity, identity, identity);
};
const floats = (...numbers: number[]): Buffer => {
  const all = Buffer.alloc(4 * numbers.length);
  for (const [n, number] of numbers.entries()) all.writeFloatBE(number, 4 * n);
  return all;
};
/** Elements by which the colours are about those of sRGB: curves of 2.2, and the primaries. */
const elements = (): Tag => {
  const gamma = concat(
    ...[Buffer.from('curf'), uint32(0), uint16(1, 0)],
    ...[Buffer.from('parf'), uint32(0), uint16(0, 0), floats(2.2, 1, 0, 0)],
  );
  const curves = concat(
    Buffer.from('cvst'),
    uint32(0),
    uint16(3, 3),
    ...Array(3).fill(uint32(36, gamma.length)),
    gamma,
  );
  const primaries = [0.4361, 0.3851, 0.1431, 0.2225, 0.7169, 0.0606, 0.0139, 0.0971, 0.7142, 0, 0, 0];
  const matrix = concat(Buffer.from('matf'), uint32(0), uint16(3, 3), floats(...primaries));
  const places = uint32(32, curves.length, 32 + curves.length, matrix.length);
  return tag('D2B0', 'mpet', uint16(3, 3), uint32(2), places, curves, matrix);
};

/** Profiles of which libvips makes red of red, and a browser another colour. */
const oddProfiles = async (): Promise<Record<string, Buffer>> => {
  const [usual, swapped] = [await profileOf('srgb'), await swappedProfile()];
  const [own, other] = [tagsOf(usual), tagsOf(swapped)];
  const many = Array.from({ length: 100 }, (_, n) => tag(`x${100 + n}`, 'text', bytes(0)));
  return {
    'a tag twice': profileWith(swapped, [...other, ...other.slice(0, 1)]),
    'too many tags': profileWith(swapped, [...other, ...many]),
    'another table': profileWith(usual, [...own, table('A2B1')]),
    elements: profileWith(swapped, [...other, elements()]),
    numbers: profileWith(usual, [...own, tag('cicp', 'cicp', bytes(1, 8, 0, 1))]),
  };
};

/** The profile of sRGB with this curve for each colour. */
const curvedProfile = async (each: Tag): Promise<Buffer> => {
  const usual = await profileOf('srgb');
  return profileWith(
    usual,
    tagsOf(usual).map((own) => (own.name.endsWith('TRC') ? { ...each, name: own.name } : own)),
  );
};
/** A curve of 256 tones. */
const tonesOf = (light: (tone: number) => number): Tag =>
  curve(...Array.from({ length: 256 }, (_, tone) => Math.round(65_535 * light(tone))));
const gamma = (tone: number): number => (tone / 255) ** 2.2;
/** Tones from 100 to 210 are one. */
const flatTones = () => tonesOf((tone) => gamma(tone < 100 || tone > 210 ? tone : 145));
/** A formula (section 10.18). */
const formula = (type: number, ...numbers: number[]): Tag =>
  tag('TRC', 'para', uint16(type, 0), uint32(...numbers.map((number) => (number * 65_536) >>> 0)));
/** Chromium refuses a profile of another white. */
const ILLUMINANT_AT = 68;
const refused = (profile: Buffer): Buffer => {
  profile.writeUInt8(0x20, ILLUMINANT_AT + 1);
  return profile;
};

const RED = [200, 30, 30];
/** Greys that are all black by their profile. */
const greysWith = async (depth: number): Promise<Buffer> => {
  const usual = await profileOf('srgb');
  const common = tagsOf(usual).filter(({ name }) => !/XYZ|TRC/.test(name));
  const profile = profileWith(usual, [...common, curve(0, 0)], 'GRAY');
  return pngOf(Array(depth / 8).fill(200), { depth, colourType: 0, before: [iccChunk(profile)] });
};
const webpWith = async (profile: Buffer): Promise<Buffer> => {
  const webp = await flat().webp({ lossless: true }).toBuffer();
  const chunk = (type: string, data: Buffer) =>
    concat(Buffer.from(type), little(4, data.length), data, Buffer.alloc(data.length & 1));
  const size = little(3, SIDE - 1, SIDE - 1);
  const chunks = concat(
    chunk('VP8X', concat(bytes(0x20, 0, 0, 0), size)),
    chunk('ICCP', profile),
    webp.subarray(12),
  );
  return concat(Buffer.from('RIFF'), little(4, chunks.length + 4), Buffer.from('WEBP'), chunks);
};
const numbered = (...numbers: number[]): Buffer =>
  pngOf(RED, { before: [pngChunk('cICP', bytes(...numbers))] });

/** Pictures that a browser shows in other colours than libvips. */
const odd = async (): Promise<[what: string, file: Buffer, type: string][]> => {
  const profiles = await oddProfiles();
  const jpegs = Object.entries(profiles).map(
    async ([what, profile]) => [what, await jpegWith(profile), 'jpeg'] as [string, Buffer, string],
  );
  const twice = profiles['a tag twice'] ?? Buffer.alloc(0);
  return [
    ...(await Promise.all(jpegs)),
    ['a tag twice', pngOf(RED, { before: [iccChunk(twice)] }), 'png'],
    ['a tag twice', await webpWith(twice), 'webp'],
    ['greys', await greysWith(8), 'png'],
    ['greys of 16 bits', await greysWith(16), 'png'],
    ['primaries by number', numbered(10, 13, 0, 1), 'png'],
    ['one tone of many', await jpegWith(refused(await curvedProfile(flatTones()))), 'jpeg'],
  ];
};

test('a picture with a second description of its colours, or one that libvips does not apply, is not shown', async () => {
  for (const [what, file, type] of await odd())
    expect([what, type, await decode(file)]).toEqual([what, type, 'ambiguous']);
  const usual = await profileOf('srgb');
  expect(await decode(await jpegWith(profileWith(usual, tagsOf(usual))))).toBe(1);
  expect(await decode(await webpWith(usual))).toBe(1);
  for (const primaries of [1, 12]) expect(await decode(numbered(primaries, 13, 0, 1))).toBe(1);
});

test('a profile that makes one of tones or colours that differ is not shown', async () => {
  const usual = await profileOf('srgb');
  const withPrimaries = (change: (xyz: number, n: number) => number): Buffer => {
    const own = tagsOf(usual).filter(({ name }) => !/^[rgb]XYZ$/.test(name));
    const primaries = tagsOf(usual).filter(({ name }) => /^[rgb]XYZ$/.test(name));
    const changed = primaries.map(({ name, data }) =>
      tag(name, 'XYZ ', uint32(...[0, 1, 2].map((n) => change(data.readUInt32BE(8 + 4 * n), n)))),
    );
    return profileWith(usual, [...own, ...changed]);
  };
  const white = [0.9642, 1, 0.8249].map((part) => part * 65_536);
  const greyed = withPrimaries((_, n) => (white[n] ?? 0) / 3);
  const bright = withPrimaries((xyz) => 1.8 * xyz);
  const curves = {
    'a flat part': flatTones(),
    steps: tonesOf((tone) => gamma(tone - (tone % 28))),
    'a formula of one light': formula(0, 0),
    'a formula with a flat part': formula(4, 2.2, 1, 0, 0, 0.7, 0, 0.5),
    'too much light': formula(4, 2.2, 1, 0, 0.2, 0.5, 0.5, 0),
    'an unknown formula': formula(5, 2.2),
    'too few numbers': tag('TRC', 'para', uint16(3, 0), uint32(65_536)),
    'less contrast': tonesOf((tone) => gamma(100 + tone / 5)),
  };
  const profiles = await Promise.all(
    Object.entries(curves).map(async ([what, each]) => [what, await curvedProfile(each)] as const),
  );
  for (const [what, profile] of [...profiles, ['greys', greyed], ['lights above white', bright]] as const)
    expect([what, await decode(await jpegWith(profile))]).toEqual([what, 'ambiguous']);
  const plain = {
    'no number': curve(),
    'one number': curve(1.8 * 256),
    table: tonesOf((tone) => (tone / 255) ** 2.6),
    formula: formula(0, 2.2),
    'that of sRGB': formula(3, 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045),
  };
  for (const [what, each] of Object.entries(plain))
    expect([what, await decode(await jpegWith(await curvedProfile(each)))]).toEqual([what, 1]);
});

describe.runIf(hasBrowser())('Chromium', () => {
  const browser = useBrowser();

  test('shows them in other colours than libvips', async () => {
    const page = await browser.newPage();
    for (const [what, file, type] of await odd()) {
      const difference = await cornerDifference(page, file, type);
      expect(difference, `${what}, ${type}`).toBeGreaterThan(50);
    }
  });
});
