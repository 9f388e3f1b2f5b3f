/**
 * The process that decodes pictures: a child of the media process, without its environment. A crash here costs the picture
 * that is being decoded. It confines itself before the first picture, so that a flaw of a decoder reaches no file, network,
 * program or other process. It receives one picture at a time and answers each.
 */
import { readSync, writeSync } from 'node:fs';
import sharp, { type Metadata, type Sharp } from 'sharp';
import { THUMBNAIL_WIDTHS } from '#src/contract/pictures.ts';
import { confine } from '#src/pictures/confine.ts';
import {
  type Decoded,
  type DecodeRequest,
  encodeReply,
  parseRequest,
  REQUEST_BYTES,
  type Thumbnail,
} from '#src/pictures/decoder-messages.ts';
import { declareTransparency, differVisibly, hasTwoProfiles } from '#src/rules/picture-colours.ts';
import { differenceHash, type ImageFormat, PICTURE_BOUNDS } from '#src/rules/pictures.ts';
import { isPlainAvif } from '#src/rules/plain-avif.ts';
import { countGifFrames, isPlainGif } from '#src/rules/plain-gif.ts';
import { isPlainJpeg } from '#src/rules/plain-jpeg.ts';
import { isPlainOrientation } from '#src/rules/plain-orientation.ts';
import { type PngChunks, readPngChunks } from '#src/rules/plain-png.ts';
import { isPlainProfile } from '#src/rules/plain-profile.ts';

/** The loaders of libvips that may read what applications send. Every other one is blocked, SVG first of all. */
const LOADERS = ['Jpeg', 'Png', 'Webp', 'Heif', 'Nsgif'].map((name) => `VipsForeignLoad${name}Buffer`);
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: LOADERS });
sharp.concurrency(1);
sharp.cache(false);

const OPAQUE = 255;
/** A thumbnail is at most this many times as high as wide, so that WebP can contain it. */
const TALL = 4;
const QUALITY = { quality: 75, effort: 3 };

const open = (bytes: Buffer, ignoreIcc = false): Sharp =>
  sharp(bytes, {
    ignoreIcc,
    failOn: 'error',
    limitInputPixels: PICTURE_BOUNDS.pixels,
    sequentialRead: true,
    pages: 1,
    autoOrient: true,
    // sharp would leave 16 bits with a profile in Display P3, so that they would be paler.
  }).pipelineColourspace('srgb');

const LARGEST = Math.max(...THUMBNAIL_WIDTHS);
const within = (width: number) =>
  ({ width, height: width * TALL, fit: 'inside', withoutEnlargement: true }) as const;

/**
 * Bytes of memory that a decoder needs for a pixel, as measured (docs/architecture.md). Types that are read line by line
 * or shrunk while they are read need next to none.
 */
const bytesAPixel = ({
  format,
  channels = 4,
  depth,
  isProgressive,
  chromaSubsampling,
  pages = 1,
}: Metadata) => {
  if (format === 'heif') return depth === 'uchar' ? 20 : 30;
  if (format === 'gif') return 6;
  if (format === 'webp') return pages > 1 ? 10 : 4;
  if (isProgressive !== true) return 0;
  if (format === 'jpeg') return chromaSubsampling === '4:2:0' ? 3 : 2.5 * channels;
  return channels * (depth === 'uchar' ? 1 : 2) + 1;
};

/** Reduces the picture to 16 × 16 pixels. @param onRefused called if libvips does not apply the colour profile */
const sketch = (bytes: Buffer, ignoreIcc: boolean, onRefused: () => void = () => {}) =>
  open(bytes, ignoreIcc)
    .on('warning', (warning: string) => {
      if (warning.includes('embedded profile')) onRefused();
    })
    .resize({ width: 16, height: 16, fit: 'fill' })
    .flatten({ background: '#fff' })
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });

/** Would a program that applies the colour profile show another picture than one that ignores it, or than libvips? */
const dependsOnProfile = async (bytes: Buffer, { format, icc, space }: Metadata): Promise<boolean> => {
  if (icc === undefined) return false;
  // libvips applies no profile to greys of 16 bits.
  if (!isPlainProfile(icc) || space === 'grey16' || (format === 'jpeg' && hasTwoProfiles(bytes))) return true;
  let isRefused = false;
  const applied = await sketch(bytes, false, () => {
    isRefused = true;
  });
  const ignored = await sketch(bytes, true);
  return isRefused || differVisibly(applied.data, ignored.data, applied.info.channels);
};

/** Does a WebP have transparent pixels that its header denies? */
const hidesTransparency = async (bytes: Buffer): Promise<boolean> => {
  const transparent = declareTransparency(bytes);
  if (transparent === null) return false;
  const alpha = await open(transparent).resize(within(LARGEST)).extractChannel('alpha').raw().toBuffer();
  return alpha.some((value) => value < OPAQUE);
};

/** Does a PNG have pixels whose colour is missing in its palette? */
const hasColourless = async (bytes: Buffer, filled: Buffer): Promise<boolean> => {
  const [own, other] = await Promise.all(
    [bytes, filled].map((png) => open(png).resize(within(LARGEST)).raw().toBuffer()),
  );
  return own?.equals(other ?? bytes) !== true;
};

const isAmbiguousPng = async (bytes: Buffer, png: PngChunks, { icc }: Metadata): Promise<boolean> =>
  png.isAmbiguous ||
  (png.hasProfile && icc === undefined) ||
  (png.filled !== null && (await hasColourless(bytes, png.filled)));

const isAmbiguous = async (bytes: Buffer, format: ImageFormat, metadata: Metadata): Promise<boolean> => {
  if (!isPlainOrientation(bytes, format, metadata.orientation)) return true;
  if (format === 'avif' && !isPlainAvif(bytes)) return true;
  if (format === 'gif' && !isPlainGif(bytes, metadata)) return true;
  if (format === 'jpeg' && !isPlainJpeg(bytes)) return true;
  if (format === 'webp' && (await hidesTransparency(bytes))) return true;
  // Browsers convert CMYK to other colours than libvips.
  return metadata.space === 'cmyk' || dependsOnProfile(bytes, metadata);
};

const decode = async ({ bytes, format }: DecodeRequest): Promise<Decoded> => {
  const metadata = await open(bytes).metadata();
  // sharp calls avif heif.
  if (metadata.format !== (format === 'avif' ? 'heif' : format)) return { outcome: 'broken' };
  const { width, height } = metadata.autoOrient;
  const pixels = width * height;
  if (pixels > PICTURE_BOUNDS.pixels || pixels * bytesAPixel(metadata) > PICTURE_BOUNDS.decodeBytes)
    return { outcome: 'too_many_pixels' };
  const png = format === 'png' ? readPngChunks(bytes) : undefined;
  if ((png && (await isAmbiguousPng(bytes, png, metadata))) || (await isAmbiguous(bytes, format, metadata)))
    return { outcome: 'ambiguous' };
  const gifFrames = format === 'gif' ? countGifFrames(bytes) : 0;
  const { data, info } = await open(bytes)
    .resize(within(LARGEST))
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  // The smaller ones are made from the largest, so that the picture is decoded once.
  const raw = { raw: { width: info.width, height: info.height, channels: info.channels } };
  const thumbnails: Thumbnail[] = [];
  for (const size of THUMBNAIL_WIDTHS)
    thumbnails.push({
      width: size,
      webp: await sharp(data, raw).resize(within(size)).webp(QUALITY).toBuffer(),
    });
  const grey = await sharp(data, raw)
    .flatten({ background: '#fff' })
    .resize({ width: 9, height: 8, fit: 'fill' })
    .greyscale()
    .raw()
    .toBuffer();
  return {
    outcome: 'shown',
    width,
    height,
    // A PNG may state any number.
    frames: Math.min(png?.frames ?? Math.max(metadata.pages ?? 1, gifFrames), PICTURE_BOUNDS.pixels),
    dhash: differenceHash(grey),
    thumbnails,
  };
};

let unconfined: string | undefined;
try {
  confine();
} catch (error) {
  unconfined = (error as Error).message;
}

const [INPUT, OUTPUT] = [0, 1];

/** Reads from the parent, and ends this process when the parent has ended. */
const read = (length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  for (let filled = 0; filled < length; ) {
    const count = readSync(INPUT, bytes, filled, length - filled, null);
    if (count === 0) process.exit();
    filled += count;
  }
  return bytes;
};

const write = (bytes: Buffer): void => {
  for (let written = 0; written < bytes.length; ) written += writeSync(OUTPUT, bytes, written);
};

for (;;) {
  const { length, format } = parseRequest(read(REQUEST_BYTES));
  const bytes = read(length);
  const before = process.cpuUsage();
  const decoded = await decode({ bytes, format }).catch(
    (error: Error): Decoded => ({
      outcome: /pixel limit/i.test(error.message) ? 'too_many_pixels' : 'broken',
    }),
  );
  const { user, system } = process.cpuUsage(before);
  write(encodeReply({ decoded, ms: (user + system) / 1_000, unconfined }));
}
