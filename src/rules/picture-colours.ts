/**
 * What a browser makes of a picture, and libvips does not. A reviewer would see another picture than players, whose browser
 * has the same bytes.
 */

const PROFILE = 'ICC_PROFILE\0';
const [APP2, START_OF_SCAN] = [0xe2, 0xda];
/** TEM, RST0 to RST7 and SOI have no length. */
const isBare = (marker = 0): boolean => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);

/** Does a JPEG have a part of a colour profile twice? Programs take the first, or the last. */
export const hasTwoProfiles = (jpeg: Buffer): boolean => {
  const places = new Set<number | undefined>();
  for (let at = 2; at + 4 <= jpeg.length; ) {
    const marker = jpeg[at + 1];
    if (jpeg[at] === 0xff && marker === START_OF_SCAN) break;
    // A marker may have anything before it.
    if (jpeg[at] !== 0xff || marker === 0xff || marker === 0) {
      at += 1;
      continue;
    }
    if (isBare(marker)) {
      at += 2;
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

const [FIRST_CHUNK, CHUNK_DATA] = [12, 20];
/** Bits for "has transparency": of the chunk VP8X, and in the header of VP8L. */
const [ALPHA_FLAG, ALPHA_HINT_AT] = [0x10, 4];

/**
 * A WebP that says that it has no transparency, with the contrary: Chromium multiplies colours by a transparency of which
 * libvips reads nothing.
 * @returns null if it says that it has one, or cannot have one
 */
export const sayTransparent = (webp: Buffer): Buffer | null => {
  const copy = Buffer.from(webp);
  const setBit = (at: number) => copy.writeUInt8(copy.readUInt8(at) | ALPHA_FLAG, at);
  const typeAt = (at: number) => webp.toString('latin1', at, at + 4);
  if (typeAt(FIRST_CHUNK) === 'VP8X') {
    if ((webp.readUInt8(CHUNK_DATA) & ALPHA_FLAG) !== 0) return null;
    setBit(CHUNK_DATA);
  }
  for (let at = FIRST_CHUNK; at + 8 + ALPHA_HINT_AT < webp.length; at += 8 + webp.readUInt32LE(at + 4)) {
    at += at % 2;
    if (typeAt(at) === 'VP8L') setBit(at + 8 + ALPHA_HINT_AT);
  }
  return copy.equals(webp) ? null : copy;
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
