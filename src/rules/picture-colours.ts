/**
 * What a browser makes of a picture, and libvips does not. A reviewer would see another picture than players, whose browser
 * has the same bytes.
 */

/** Animation and colours of a PNG (third edition, sections 4.3 and 4.9). */
export type PngChunks = { frames: number; hasOtherColours: boolean };

type Part = { type: string; data: Buffer };

function* chunksOf(png: Buffer): Generator<Part, void, void> {
  for (let at = 8; at + 8 <= png.length; ) {
    const end = at + 8 + png.readUInt32BE(at);
    yield { type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, end) };
    at = end + 4;
  }
}

/** The gamma of a PNG, times 100,000: sRGB has 45,455, Macs of old 55,556, linear light 100,000. */
const GAMMA = { min: 20_000, max: 100_000 };
/** White, red, green and blue of sRGB, and how far from them wide gamuts are. */
const SRGB = [
  { x: 31_270, y: 32_900, near: 10_000 },
  { x: 64_000, y: 33_000, near: 28_000 },
  { x: 30_000, y: 60_000, near: 28_000 },
  { x: 15_000, y: 6_000, near: 28_000 },
];
/** Transfer functions that are about that of sRGB (ITU-T H.273, table 3). */
const TRANSFERS: ReadonlySet<number | undefined> = new Set([1, 6, 13, 14, 15]);

const isOther: Record<string, (data: Buffer) => boolean> = {
  gAMA: (data) => data.length < 4 || data.readUInt32BE() < GAMMA.min || data.readUInt32BE() > GAMMA.max,
  cHRM: (data) =>
    data.length < 32 ||
    SRGB.some(({ x, y, near }, n) => {
      const [ownX, ownY] = [data.readUInt32BE(8 * n), data.readUInt32BE(8 * n + 4)];
      return Math.hypot(ownX - x, ownY - y) > near;
    }),
  cICP: (data) => !TRANSFERS.has(data[1]),
};

/** Reads what libvips does not read of a PNG. `frames` counts a still picture that the animation does not have. */
export const readPngChunks = (png: Buffer): PngChunks => {
  let frames = 0;
  let profiles = 0;
  let startsWithStill = false;
  let hasOtherColours = false;
  for (const { type, data } of chunksOf(png)) {
    if (type === 'IDAT') break;
    if (type === 'acTL' && data.length >= 4) frames = data.readUInt32BE();
    if (type === 'fcTL') startsWithStill = true;
    if (type === 'iCCP') profiles += 1;
    hasOtherColours ||= isOther[type]?.(data) ?? false;
  }
  return {
    frames: frames === 0 ? 1 : frames + (startsWithStill ? 0 : 1),
    hasOtherColours: hasOtherColours || profiles > 1,
  };
};

const PROFILE = 'ICC_PROFILE\0';
const [APP2, START_OF_SCAN] = [0xe2, 0xda];

/** Does a JPEG have a part of a colour profile twice? Programs take the first, or the last. */
export const hasTwoProfiles = (jpeg: Buffer): boolean => {
  const places = new Set<number | undefined>();
  for (let at = 2; at + 4 <= jpeg.length; ) {
    const marker = jpeg[at + 1];
    if (jpeg[at] !== 0xff || marker === START_OF_SCAN) break;
    // A marker may have any number of bytes 0xff before it.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const end = at + 2 + jpeg.readUInt16BE(at + 2);
    if (marker === APP2 && jpeg.toString('latin1', at + 4, at + 4 + PROFILE.length) === PROFILE) {
      const place = jpeg[at + 4 + PROFILE.length];
      if (places.has(place)) return true;
      places.add(place);
    }
    at = end;
  }
  return false;
};

/** Classes of profiles that lcms applies to a picture; a browser applies one of any class. */
const CLASSES: ReadonlySet<string> = new Set(['mntr', 'scnr', 'prtr', 'spac']);

export const isOfUsualClass = (profile: Buffer): boolean => CLASSES.has(profile.toString('latin1', 12, 16));

/** Tones of 256 by which a pixel may differ: between sRGB and wide gamuts it is at most about 40. */
const TONES_MAX = 64;

/**
 * Do two versions of a picture look different at one of their pixels?
 * @param channels of both
 */
export const looksOther = (one: Uint8Array, other: Uint8Array, channels: number): boolean => {
  if (one.length !== other.length) return true;
  for (let pixel = 0; pixel < one.length; pixel += channels) {
    let difference = 0;
    for (let at = pixel; at < pixel + channels; at += 1)
      difference += Math.abs((one[at] ?? 0) - (other[at] ?? 0));
    if (difference > TONES_MAX * channels) return true;
  }
  return false;
};
