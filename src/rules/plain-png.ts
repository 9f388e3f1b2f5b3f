import { crc32 } from 'node:zlib';
import { isPlainCicp } from '#src/rules/cicp.ts';
import { arePlainPrimaries, type Light, placedPrimaries } from '#src/rules/primaries.ts';

/** Facts of a PNG that decide whether programs show it differently (third edition, section 4.9). */
export type PngChunks = {
  frames: number;
  isAmbiguous: boolean;
  /** It has a colour profile, which libvips may refuse and a browser apply. */
  hasProfile: boolean;
  /** The PNG with a colour for each index that its palette lacks; null if it lacks none. */
  filled: Buffer | null;
};

const uint32 = (number: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number);
  return bytes;
};

type Part = { type: string; data: Buffer; isIntact: boolean };

function* chunksOf(png: Buffer): Generator<Part, void, void> {
  for (let at = 8; at + 8 <= png.length; ) {
    const end = at + 8 + png.readUInt32BE(at);
    const isIntact = end + 4 <= png.length && crc32(png.subarray(at + 4, end)) === png.readUInt32BE(end);
    yield { type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, end), isIntact };
    at = end + 4;
  }
}

/** The accepted gamma of a PNG, times 100,000. sRGB has 45,455, old Macs 55,556. With 100,000, dark parts can be hidden. */
const GAMMA = { min: 40_000, max: 60_000 };
/** The chromaticity of sRGB's white, and the largest accepted distance. */
const WHITE = { x: 0.3127, y: 0.329, near: 0.1 };

/** Do these primaries make other colours than those of sRGB? */
const areOddPrimaries = (data: Buffer): boolean => {
  const place = (n: number): [x: number, y: number] => [
    data.readUInt32BE(8 * n) / 100_000,
    data.readUInt32BE(8 * n + 4) / 100_000,
  ];
  const light = (n: number): Light => {
    const [x, y] = place(n);
    return [x / y, 1, (1 - x - y) / y];
  };
  const [x, y] = place(0);
  const isWhite = Math.hypot(x - WHITE.x, y - WHITE.y) <= WHITE.near;
  return !(isWhite && arePlainPrimaries(placedPrimaries(light(0), light(1), light(2), light(3))));
};
/** A PNG has RGB in its full range. */
const isPlainColours = ([primaries = 2, transfer = 2, matrix, isFull, ...others]: Buffer): boolean =>
  isPlainCicp(primaries, transfer, 0) &&
  transfer !== 2 &&
  matrix === 0 &&
  isFull === 1 &&
  others.length === 0;

/** Does this frame control chunk describe the whole picture? If it describes a part, browsers show nothing of the PNG. */
const controlsWhole = (control: Buffer, header: Buffer = Buffer.alloc(0)): boolean =>
  control.length === 26 &&
  control.subarray(0, 20).equals(Buffer.concat([uint32(0), header.subarray(0, 8), Buffer.alloc(8)])) &&
  control.readUInt8(24) <= 2 &&
  control.readUInt8(25) <= 1;

/** By type of chunk: does its content make programs show the PNG differently? */
const isDisputed: Record<string, (data: Buffer, header?: Buffer) => boolean> = {
  PLTE: (data) => data.length > 3 * 256,
  gAMA: (data) => data.length < 4 || data.readUInt32BE() < GAMMA.min || data.readUInt32BE() > GAMMA.max,
  cHRM: (data) => data.length < 32 || areOddPrimaries(data),
  cICP: (data) => !isPlainColours(data),
  acTL: (data) => data.length !== 8 || data.readUInt32BE() === 0,
  fcTL: (data, header) => !controlsWhole(data, header),
};
/** Chunks that must not stand twice, because some programs use the first and others the last. */
const ONCE: ReadonlySet<string> = new Set(['IHDR', 'tRNS', 'iCCP', ...Object.keys(isDisputed)]);

const PALETTE_TYPE = 3;
/** Bytes of the transparency chunk by colour type. A palette has at most one byte for each of its colours. */
const TRANSPARENCY = { 0: 2, 2: 6 } as const;

/**
 * Does the transparency chunk have a wrong length, or a tone that no pixel can have? Of the first, libvips applies nothing
 * and a browser all; of the second, libvips the lower bits and a browser nothing.
 */
const isWrongTransparency = (parts: ReadonlyMap<string, Buffer>): boolean => {
  const [header, palette, transparency] = [parts.get('IHDR'), parts.get('PLTE'), parts.get('tRNS')];
  if (transparency === undefined) return false;
  const [depth = 0, colourType] = header?.subarray(8) ?? [];
  if (colourType === PALETTE_TYPE) return transparency.length > (palette?.length ?? 0) / 3;
  if (transparency.length !== TRANSPARENCY[colourType as keyof typeof TRANSPARENCY]) return true;
  return [0, 2, 4].some((at) => at < transparency.length && transparency.readUInt16BE(at) >= 2 ** depth);
};

const ODD_COLOUR = Buffer.from([255, 0, 255]);

const fillPalette = (png: Buffer, parts: ReadonlyMap<string, Buffer>): Buffer | null => {
  const [header, palette] = [parts.get('IHDR'), parts.get('PLTE')];
  if (header?.[9] !== PALETTE_TYPE || palette === undefined) return null;
  const whole = Buffer.alloc(3 * 2 ** (header[8] ?? 0), ODD_COLOUR);
  if (palette.copy(whole) === whole.length) return null;
  const named = Buffer.concat([Buffer.from('PLTE'), whole]);
  const start = palette.byteOffset - png.byteOffset - 8;
  return Buffer.concat([
    png.subarray(0, start),
    uint32(whole.length),
    named,
    uint32(crc32(named)),
    png.subarray(start + 8 + palette.length + 4),
  ]);
};

/** Reads what libvips does not report of a PNG. `frames` includes a still picture that is no part of the animation. */
export const readPngChunks = (png: Buffer): PngChunks => {
  const parts = new Map<string, Buffer>();
  let isAmbiguous = false;
  for (const { type, data, isIntact } of chunksOf(png)) {
    if (type === 'IDAT') break;
    // Programs differ in what they make of a chunk whose checksum is wrong.
    const isOdd = isDisputed[type]?.(data, parts.get('IHDR')) ?? false;
    isAmbiguous ||= !isIntact || (ONCE.has(type) && parts.has(type)) || isOdd;
    parts.set(type, data);
  }
  const animated = parts.get('acTL');
  const frames = animated === undefined || animated.length < 4 ? 0 : animated.readUInt32BE();
  return {
    frames: frames === 0 ? 1 : frames + (parts.has('fcTL') ? 0 : 1),
    isAmbiguous: isAmbiguous || isWrongTransparency(parts),
    hasProfile: parts.has('iCCP'),
    filled: fillPalette(png, parts),
  };
};
