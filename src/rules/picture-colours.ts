/**
 * Finds pictures whose colours browsers and libvips read differently, so a reviewer, who sees the thumbnails that libvips
 * makes, would see another picture than players.
 */

const PROFILE = 'ICC_PROFILE\0';
const [APP2, START_OF_SCAN] = [0xe2, 0xda];
/** TEM, RST0 to RST7 and SOI have no length. */
export const isBareMarker = (marker = 0): boolean => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);

/** Does a JPEG have the same part of a colour profile twice? Some programs read the first, others the last. */
export const hasTwoProfiles = (jpeg: Buffer): boolean => {
  const parts = new Set<number | undefined>();
  for (let at = 2; at + 4 <= jpeg.length; ) {
    const marker = jpeg[at + 1];
    if (jpeg[at] === 0xff && marker === START_OF_SCAN) break;
    // Padding or garbage before a marker is skipped.
    if (jpeg[at] !== 0xff || marker === 0xff || marker === 0) {
      at += 1;
      continue;
    }
    if (isBareMarker(marker)) {
      at += 2;
      continue;
    }
    const end = at + 2 + jpeg.readUInt16BE(at + 2);
    if (marker === APP2 && jpeg.toString('latin1', at + 4, at + 4 + PROFILE.length) === PROFILE) {
      const part = jpeg[at + 4 + PROFILE.length];
      if (parts.has(part)) return true;
      parts.add(part);
    }
    at = end;
  }
  return false;
};

const [FIRST_CHUNK, CHUNK_DATA] = [12, 20];
/** The bit "has transparency": in the first byte of a VP8X chunk, and in byte 4 of a VP8L chunk. */
const [ALPHA_FLAG, VP8L_ALPHA_AT] = [0x10, 4];

/**
 * Copies a WebP whose header denies transparency, with a header that declares it, because Chromium applies the alpha
 * channel in either case and libvips only if the header declares it.
 * @returns null if the header already declares transparency, or the picture cannot have any
 */
export const declareTransparency = (webp: Buffer): Buffer | null => {
  const copy = Buffer.from(webp);
  const setBit = (at: number) => copy.writeUInt8(copy.readUInt8(at) | ALPHA_FLAG, at);
  const typeAt = (at: number) => webp.toString('latin1', at, at + 4);
  if (typeAt(FIRST_CHUNK) === 'VP8X') {
    if ((webp.readUInt8(CHUNK_DATA) & ALPHA_FLAG) !== 0) return null;
    setBit(CHUNK_DATA);
  }
  for (let at = FIRST_CHUNK; at + 8 + VP8L_ALPHA_AT < webp.length; ) {
    if (typeAt(at) === 'VP8L') setBit(at + 8 + VP8L_ALPHA_AT);
    const end = at + 8 + webp.readUInt32LE(at + 4);
    at = end + (end % 2);
  }
  return copy.equals(webp) ? null : copy;
};

/** How much a channel (0 to 255) may differ on average: sRGB and wide gamuts differ by at most about 40. */
const TONES_MAX = 64;

/** Do two versions of a picture differ visibly at any pixel? Both have `channels` bytes per pixel. */
export const differVisibly = (one: Uint8Array, other: Uint8Array, channels: number): boolean => {
  if (one.length !== other.length) return true;
  for (let pixel = 0; pixel < one.length; pixel += channels) {
    let difference = 0;
    for (let at = pixel; at < pixel + channels; at += 1)
      difference += Math.abs((one[at] ?? 0) - (other[at] ?? 0));
    if (difference > TONES_MAX * channels) return true;
  }
  return false;
};
