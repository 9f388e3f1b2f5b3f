/**
 * The colour profile of a picture (ICC.1:2022). One program refuses a profile that another applies, so a profile must not
 * hide what is seen without it.
 */

import { arePlainPrimaries, type Light } from '#src/rules/primaries.ts';

/** Classes of colour profiles that lcms applies to a picture; a browser applies any class. */
const CLASSES: ReadonlySet<string> = new Set(['mntr', 'scnr', 'prtr', 'spac']);
const [CLASS_AT, SPACE_AT, TAGS_AT, TAG_BYTES] = [12, 16, 128, 12];
/** lcms refuses a profile of more tags, which browsers apply. */
const TAGS_MAX = 100;
/** Tables and numbers that describe the colours too. Of several descriptions, each program applies another one. */
const OTHER_TAG = /^(?:[AD]2B\d|cicp)$/;

const readTags = (profile: Buffer): [name: string, data: Buffer][] =>
  Array.from({ length: profile.readUInt32BE(TAGS_AT) }, (_, n) => {
    const at = TAGS_AT + 4 + n * TAG_BYTES;
    const start = profile.readUInt32BE(at + 4);
    const data = profile.subarray(start, start + profile.readUInt32BE(at + 8));
    return [profile.toString('latin1', at, at + 4), data];
  });

/** @throws RangeError if the data ends before */
const fixed = (data: Buffer, n: number, from: number): number => data.readInt32BE(from + 4 * n) / 65_536;

/** A curve from tones to light, both from 0 to 1. */
type Curve = (tone: number) => number;

/** Reads a table, or one exponent. No number is the exponent 1. */
const readTable = (data: Buffer): Curve => {
  const count = data.readUInt32BE(8);
  const point = (n: number): number => data.readUInt16BE(12 + 2 * n) / 65_535;
  if (count < 2) return (tone) => tone ** (count === 0 ? 1 : data.readUInt16BE(12) / 256);
  return (tone) => {
    const place = tone * (count - 1);
    const before = Math.min(Math.floor(place), count - 2);
    return point(before) + (point(before + 1) - point(before)) * (place - before);
  };
};

/** The numbers of parameters of each type of formula. */
const PARAMETERS = [1, 3, 4, 5, 7];

/** Reads a formula: a power, and in its dark part a line (section 10.18). */
const readFormula = (data: Buffer): Curve => {
  const type = data.readUInt16BE(8);
  const numbers = Array.from({ length: PARAMETERS[type] ?? 0 }, (_, n) => fixed(data, n, 12));
  const [g = Number.NaN, a = 1, b = 0, c = 0, d = -b / a, e = 0, f = 0] = numbers;
  const [slope, above, below] = type < 3 ? [0, c, c] : [c, e, f];
  return (tone) => (tone >= d ? (a * tone + b) ** g + above : slope * tone + below);
};

const READERS: ReadonlyMap<string, (data: Buffer) => Curve> = new Map([
  ['curv', readTable],
  ['para', readFormula],
]);

/** The tone of sRGB for a light, of which programs cut what is below 0 or above 1. */
const toneOf = (light: number): number => {
  const cut = Math.min(Math.max(light, 0), 1);
  return cut > 0.0031308 ? 1.055 * cut ** (1 / 2.4) - 0.055 : 12.92 * cut;
};

/** Tones, of 255, that are this far apart must be as far apart with the profile. Gammas of up to 2.6 keep as much. */
const DISTANCES = [
  { apart: 16, left: 2 },
  { apart: 32, left: 10 },
];
const STEP = 4;

/** Do tones that differ also differ with this curve? */
const keepsTones = (data: Buffer): boolean => {
  const curve = READERS.get(data.toString('latin1', 0, 4))?.(data);
  if (curve === undefined) return false;
  return DISTANCES.every(({ apart, left }) => {
    const differs = (tone: number): boolean =>
      255 * (toneOf(curve((tone + apart) / 255)) - toneOf(curve(tone / 255))) >= left;
    return Array.from({ length: Math.ceil((256 - apart) / STEP) }, (_, n) => n * STEP).every(differs);
  });
};

/** Reads X, Y and Z. */
const readLight = (data: Buffer): Light => [fixed(data, 0, 8), fixed(data, 1, 8), fixed(data, 2, 8)];

const checkPlain = (profile: Buffer): boolean => {
  if (profile.readUInt32BE(TAGS_AT) > TAGS_MAX) return false;
  if (!CLASSES.has(profile.toString('latin1', CLASS_AT, CLASS_AT + 4))) return false;
  const list = readTags(profile);
  const tags = new Map(list);
  if (tags.size < list.length || list.some(([name]) => OTHER_TAG.test(name))) return false;
  const tag = (name: string): Buffer => tags.get(name) ?? Buffer.alloc(0);
  const isGrey = profile.toString('latin1', SPACE_AT, SPACE_AT + 4) === 'GRAY';
  if (isGrey) return keepsTones(tag('kTRC'));
  const [red, green, blue] = [readLight(tag('rXYZ')), readLight(tag('gXYZ')), readLight(tag('bXYZ'))];
  return ['rTRC', 'gTRC', 'bTRC'].map(tag).every(keepsTones) && arePlainPrimaries([red, green, blue]);
};

/** Does a profile describe its colours in one way, by curves and primaries that keep what differs apart? */
export const isPlainProfile = (profile: Buffer): boolean => {
  try {
    return checkPlain(profile);
  } catch {
    return false;
  }
};
