/** Primaries of a picture's colours, compared with those of sRGB. */

/** X, Y and Z, or red, green and blue. */
export type Light = readonly [number, number, number];

const dot = ([a, b, c]: Light, [x, y, z]: Light): number => a * x + b * y + c * z;
const cross = ([a, b, c]: Light, [x, y, z]: Light): Light => [b * z - c * y, c * x - a * z, a * y - b * x];
const map = (light: Light, to: (part: number, n: number) => number): Light => light.map(to) as never;

/** The rows of the inverse of a matrix of columns. */
const invert = ([one, two, three]: readonly [Light, Light, Light]): [Light, Light, Light] => {
  const size = dot(one, cross(two, three));
  const row = (light: Light): Light => map(light, (part) => part / size);
  return [row(cross(two, three)), row(cross(three, one)), row(cross(one, two))];
};

/** The white to which programs adapt all others (ICC.1:2022, D50). */
const WHITE: Light = [0.9642, 1, 0.8249];
/** The light of sRGB from X, Y and Z (D50). */
const TO_SRGB: readonly Light[] = [
  [3.1339, -1.6169, -0.4906],
  [-0.9788, 1.9161, 0.0335],
  [0.0719, -0.229, 1.4052],
];

/** Each primary has most of its own colour, and little of the others. ProPhoto RGB has 2.04 of red, and -0.73. */
const OWN = { min: 0.4, max: 2.5 };
const OTHER_MAX = 0.8;
const isNear = (primaries: readonly Light[]): boolean =>
  primaries.every((light, n) =>
    light.every((part, m) => (n === m ? part >= OWN.min && part <= OWN.max : Math.abs(part) <= OTHER_MAX)),
  );

/** Together they must be white. If they are not, programs clip light tones, so that several look the same. */
const WHITE_MAX = 0.15;
const isWhite = ([red, green, blue]: readonly [Light, Light, Light]): boolean =>
  [0, 1, 2].every((n) => Math.abs((red[n] ?? 0) + (green[n] ?? 0) + (blue[n] ?? 0) - 1) <= WHITE_MAX);

/**
 * Are colours by these primaries about as far apart as those of sRGB? If primaries are nearly on one line, a program shows
 * two greys as black and white, or all colours as one.
 * @param primaries in X, Y and Z, adapted to D50
 */
export const arePlainPrimaries = (primaries: readonly [Light, Light, Light]): boolean => {
  const toSrgb = (xyz: Light): Light => TO_SRGB.map((row) => dot(row, xyz)) as never;
  const [red, green, blue] = primaries;
  const lights = [toSrgb(red), toSrgb(green), toSrgb(blue)] as const;
  return isWhite(lights) && isNear(lights) && isNear(invert(lights));
};

/**
 * Finds X, Y and Z of a PNG's primaries, adapted to D50.
 * @param places the chromaticities of red, green and blue, as X, Y and Z with Y = 1, like `white`
 */
export const placedPrimaries = (white: Light, ...places: [Light, Light, Light]): [Light, Light, Light] => {
  const amounts = invert(places).map((row) => dot(row, white));
  const adapt = (place: Light, n: number): Light =>
    map(place, (part, m) => (part * (amounts[n] ?? 0) * (WHITE[m] ?? 0)) / (white[m] ?? 0));
  const [red, green, blue] = places;
  return [adapt(red, 0), adapt(green, 1), adapt(blue, 2)];
};
