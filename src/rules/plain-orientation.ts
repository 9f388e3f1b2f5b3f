import type { ImageFormat } from '#src/rules/pictures.ts';

/** How the block of Exif begins, little-endian and big-endian. */
const HEADS = ['II*\0', 'MM\0*'].map((head) => Buffer.from(head, 'latin1'));
const JPEG_HEAD = 'Exif\0\0';
/** Most blocks of one file. Very few files have other bytes that look like a block by chance. */
const BLOCKS_MAX = 16;
const ORIENTATION = 0x0112;
const [X_RESOLUTION, Y_RESOLUTION] = [0x011a, 0x011b];
const [TYPE_SHORT, TYPE_RATIONAL, ENTRY_BYTES] = [3, 5, 12];
const UPRIGHT = 1;

const turns = (value = UPRIGHT): boolean => value >= 2 && value <= 8;

/** What Exif says of how to turn a picture. `isUsual`: each program reads it as `value`. */
type Orientation = { value: number; mayTurn: boolean; isUsual: boolean };
/** `isStretched`: its pixels are not square, so a browser makes it wider or higher. */
type Block = { orientations: Orientation[]; isStretched: boolean };

const readBlock = (bytes: Buffer, at: number): Block => {
  const isLittle = bytes[at] === HEADS[0]?.[0];
  const number = (size: number, place: number): number => {
    if (place + size > bytes.length) return 0;
    return isLittle ? bytes.readUIntLE(place, size) : bytes.readUIntBE(place, size);
  };
  const list = at + number(4, at + 4);
  const orientations: Orientation[] = [];
  const resolutions = new Set<number>();
  for (let left = number(2, list), entry = list + 2; left > 0; left -= 1, entry += ENTRY_BYTES) {
    const tag = number(2, entry);
    const hasOne = (type: number): boolean => number(2, entry + 2) === type && number(4, entry + 4) === 1;
    if ((tag === X_RESOLUTION || tag === Y_RESOLUTION) && hasOne(TYPE_RATIONAL)) {
      const place = at + number(4, entry + 8);
      resolutions.add(number(4, place) / number(4, place + 4));
    }
    if (tag !== ORIENTATION) continue;
    const value = number(2, entry + 8);
    const isJpegs =
      at >= JPEG_HEAD.length && bytes.toString('latin1', at - JPEG_HEAD.length, at) === JPEG_HEAD;
    const mayTurn = [1, 2, 4].some((size) => turns(number(size, entry + 8)));
    orientations.push({ value, mayTurn, isUsual: hasOne(TYPE_SHORT) && isJpegs });
  }
  return { orientations, isStretched: resolutions.size > 1 };
};

/**
 * Do programs turn a picture alike, and give it one shape? They do if nothing turns it, or it is a JPEG whose Exif has one
 * orientation, which is one number. For other types only some programs apply Exif, and odd forms of it are read in
 * different ways.
 * @param applied the orientation that the decoder applies
 */
export const isPlainOrientation = (
  bytes: Buffer,
  format: ImageFormat,
  applied: number | undefined,
): boolean => {
  const found: Orientation[] = [];
  let blocks = 0;
  for (const head of HEADS)
    for (let at = bytes.indexOf(head); at !== -1; at = bytes.indexOf(head, at + 1)) {
      blocks += 1;
      if (blocks > BLOCKS_MAX) return false;
      const { orientations, isStretched } = readBlock(bytes, at);
      if (isStretched) return false;
      found.push(...orientations);
    }
  if (!turns(applied) && !found.some(({ mayTurn }) => mayTurn)) return true;
  const [only, ...others] = found;
  return format === 'jpeg' && others.length === 0 && only?.isUsual === true && only.value === applied;
};
