import sharp from 'sharp';
import { type Choices, choicesFrom } from '#src/sample-application/random.ts';

/** The media types of pictures, by file extension. */
export const PICTURE_TYPES = { png: 'image/png', jpg: 'image/jpeg', webp: 'image/webp' } as const;
export type PictureExtension = keyof typeof PICTURE_TYPES;

const SIZES = { icon: { width: 512, height: 512 }, shot: { width: 1_280, height: 720 } } as const;
export type PictureKind = keyof typeof SIZES;

/** Hills: a line through random heights, closed at the bottom. */
const hills = (choices: Choices, width: number, height: number, top: number, fill: string): string => {
  const steps = 6;
  const heights = Array.from({ length: steps + 1 }, () => top + choices.below(height / 6));
  const line = heights.map((y, n) => {
    const x = (n * width) / steps;
    const half = width / steps / 2;
    const before = heights[n - 1] ?? y;
    return n === 0 ? `M0 ${y}` : `C${x - half} ${before} ${x - half} ${y} ${x} ${y}`;
  });
  return `<path d="${line.join('')}V${height}H0Z" fill="${fill}"/>`;
};

/** A landscape with colours around one hue: sky, sun or (at night) moon and stars, three rows of hills, small houses. */
const landscape = (key: string, { width, height }: { width: number; height: number }): string => {
  const choices = choicesFrom(key);
  const hue = choices.below(360);
  const isNight = choices.chance(0.4);
  const sky = isNight ? [18, 34] : [72, 88];
  const radius = height / (6 + choices.below(5));
  const sun = `<circle cx="${choices.below(width)}" cy="${radius + choices.below(height / 3)}" r="${radius}" fill="hsl(${hue + 40} 95% ${isNight ? 85 : 68}%)"/>`;
  const stars = Array.from({ length: isNight ? 40 : 0 }, () => {
    const [x, y] = [choices.below(width), choices.below(height / 2)];
    return `<circle cx="${x}" cy="${y}" r="${1 + choices.below(3)}" fill="#fff" fill-opacity="0.8"/>`;
  });
  const rows = [0.45, 0.6, 0.76].map((top, n) =>
    hills(
      choices,
      width,
      height,
      top * height,
      `hsl(${hue + 150 + n * 14} 42% ${(isNight ? 34 : 58) - n * 12}%)`,
    ),
  );
  const houses = Array.from({ length: 3 + choices.below(4) }, () => {
    const size = height / (12 + choices.below(6));
    const [x, y] = [choices.below(width - size), height - size * (1.2 + choices.below(2))];
    const wall = `<rect x="${x}" y="${y}" width="${size}" height="${size}" fill="hsl(${hue + 20} 60% 88%)"/>`;
    const roof = `<path d="M${x - size / 5} ${y}L${x + size / 2} ${y - size / 1.4}L${x + size * 1.2} ${y}Z" fill="hsl(${hue + 330} 62% 48%)"/>`;
    const door = `<rect x="${x + size / 2.8}" y="${y + size / 2.6}" width="${size / 3.2}" height="${size / 1.7}" fill="hsl(45 95% 60%)"/>`;
    return wall + roof + door;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><defs><linearGradient id="sky" x2="0" y2="1"><stop stop-color="hsl(${hue} 60% ${sky[0]}%)"/><stop offset="1" stop-color="hsl(${hue + 30} 70% ${sky[1]}%)"/></linearGradient></defs><rect width="100%" height="100%" fill="url(#sky)"/>${stars.join('')}${sun}${rows.join('')}${houses.join('')}</svg>`;
};

/** Draws a picture. The same arguments always give the same bytes. */
export const drawPicture = (key: string, kind: PictureKind, extension: PictureExtension): Promise<Buffer> => {
  const drawing = sharp(Buffer.from(landscape(key, SIZES[kind]))).flatten();
  if (extension === 'png') return drawing.png({ palette: true }).toBuffer();
  return extension === 'jpg'
    ? drawing.jpeg({ quality: 82 }).toBuffer()
    : drawing.webp({ effort: 2 }).toBuffer();
};
