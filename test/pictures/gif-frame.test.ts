/** A GIF whose first frame leaves places without a pixel: they are black for libvips, and in browsers the page behind it. */
import sharp from 'sharp';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createDecoder } from '#src/pictures/decoder.ts';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { cornerDifference, little, shownColour, useDecoder } from '#test/support/picture-parts.ts';

const decode = useDecoder();
const SIDE = 8;
const COLOURS = [200, 30, 30, 30, 200, 30, 0, 0, 0, 255, 255, 255];
/** A GIF with a red pixel at this place, and what is before it. */
const gif = (place: number, side: number, ...control: number[]): Buffer =>
  Buffer.concat([
    Buffer.from('GIF89a'),
    little(2, side, side),
    Buffer.from([0x91, 0, 0, ...COLOURS, ...control, 0x2c]),
    little(2, place, place, 1, 1),
    Buffer.from([0, 2, 2, 0x44, 1, 0, 0x3b]),
  ]);
/** A GIF of one row, whose frame covers it, of these codes of three bits. */
const row = (width: number, codes: number[], ...control: number[]): Buffer => {
  const bits = codes.map((code) => code.toString(2).padStart(3, '0')).reverse();
  // No code is all ones.
  const padded = bits.join('').padStart(8 * Math.ceil((3 * codes.length) / 8), '1');
  const data = (padded.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)).reverse();
  return Buffer.concat([
    Buffer.from('GIF89a'),
    little(2, width, 1),
    Buffer.from([0x91, 0, 0, ...COLOURS, ...control, 0x2c]),
    little(2, 0, 0, width, 1),
    Buffer.from([0, 2, data.length, ...data, 0, 0x3b]),
  ]);
};
const [CLEAR, END] = [4, 5];
const control = (...bytes: number[]): number[] => [0x21, 0xf9, bytes.length, ...bytes, 0];
const TRANSPARENT = control(1, 0, 0, 3);

test('a GIF with a free part is shown if it says what is transparent', async () => {
  expect(await decode(gif(0, 1))).toBe(1);
  expect(await decode(gif(0, SIDE, ...TRANSPARENT))).toBe(1);
  expect(await decode(gif(0, SIDE))).toBe('ambiguous');
  expect(await decode(gif(SIDE - 1, SIDE))).toBe('ambiguous');
});

test('a GIF of a screen in whose place libvips shows the frame alone is not shown', async () => {
  // libnsgif takes these for sizes of the monitors on which a GIF was made, and larger ones for mistakes.
  for (const side of [SIDE, 2_048]) expect(await decode(gif(0, side, ...TRANSPARENT))).toBe(1);
  for (const side of [2_049, 32_816]) expect(await decode(gif(0, side, ...TRANSPARENT))).toBe('ambiguous');
});

test('a GIF whose control has another length is not shown: browsers show no picture', async () => {
  expect(await decode(gif(0, 1, ...TRANSPARENT))).toBe(1);
  for (const bytes of [
    [1, 0, 0],
    [1, 0, 0, 3, 0],
  ])
    expect(await decode(gif(0, 1, ...control(...bytes)))).toBe('ambiguous');
});

test('a GIF whose frame has fewer pixels than its size is not shown, unless it says what is transparent', async () => {
  // 6 and 7 are what was twice and thrice before.
  for (const codes of [
    [0, 0, 0],
    [0, 6],
    [0, CLEAR, 0, 0],
  ])
    expect(await decode(row(3, [CLEAR, ...codes, END]))).toBe(1);
  expect(await decode(row(6, [CLEAR, 0, 6, 7]))).toBe(1);
  expect(await decode(row(7, [CLEAR, 0, 6, 7]))).toBe('ambiguous');
  for (const codes of [[CLEAR, 0, 0, END], [CLEAR, 0, CLEAR, 0, END, 0], []])
    expect(await decode(row(3, codes))).toBe('ambiguous');
  expect(await decode(row(3, [CLEAR, 0, 0, END], ...TRANSPARENT))).toBe(1);
});

test('a large GIF whose codes are read is shown: reading them takes no memory that decoding needs', async () => {
  const side = 5_700;
  // Eight times: clear, 0, 0.
  const part = Buffer.from([4, 8, 16, 32, 64, 128, 0, 1, 2]);
  const block = Buffer.concat([Buffer.from([252]), ...Array<Buffer>(28).fill(part)]);
  const large = Buffer.concat([
    Buffer.from('GIF89a'),
    little(2, side, side),
    Buffer.from([0x90, 0, 0, ...COLOURS.slice(0, 6), ...TRANSPARENT, 0x2c]),
    little(2, 0, 0, side, side),
    Buffer.from([0, 2]),
    ...Array<Buffer>(41_100).fill(block),
    Buffer.from([0, 0x3b]),
  ]);
  const decoder = createDecoder({ decodeMs: 60_000 });
  onTestFinished(() => decoder.close());
  expect(await decoder.decode({ bytes: large, format: 'gif' })).toMatchObject({
    outcome: 'shown',
    frames: 1,
  });
});

/** A GIF of a red frame, and of a green one behind what libvips takes for the end. */
const behindTheEnd = (...end: number[]): Buffer => {
  const [red, green] = [row(3, [CLEAR, 0, 0, 0, END]), row(3, [CLEAR, 1, 1, 1, END])];
  const frame = green.subarray(green.indexOf(0x2c));
  return Buffer.concat([red.subarray(0, -1), Buffer.from(end), frame]);
};
const [EMPTY, PLAIN] = [
  [0x21, 0xff, 0],
  [0x21, 0xfe, 1, 0, 0],
];
/** A GIF of these codes, with a table of two colours, which names a third one as transparent. */
const beyond = (...codes: number[]) => {
  const picture = row(3, [CLEAR, ...codes, END], ...control(1, 0, 0, 2));
  const rest = picture.subarray(13 + COLOURS.length);
  return Buffer.concat([picture.subarray(0, 10), Buffer.from([0x90, 0, 0, ...COLOURS.slice(0, 6)]), rest]);
};

test('frames behind an extension without a block count, of which libvips finds none', async () => {
  for (const end of [EMPTY, PLAIN]) expect(await decode(behindTheEnd(...end))).toBe(2);
});

test('a GIF with a colour beyond its table is not shown', async () => {
  // 6 is what was twice before.
  for (const codes of [
    [0, 1, 0],
    [1, 6],
  ])
    expect(await decode(beyond(...codes))).toBe(1);
  for (const codes of [
    [0, 3, 0],
    [3, 6],
    [0, 2, 0],
  ])
    expect(await decode(beyond(...codes))).toBe('ambiguous');
});

describe.runIf(hasBrowser())('Chromium', () => {
  const browser = useBrowser();
  test('shows the page in a free part that is black for libvips', async () => {
    const picture = gif(SIDE - 1, SIDE);
    expect([...(await sharp(picture).raw().toBuffer()).subarray(0, 3)]).toEqual([0, 0, 0]);
    expect(await shownColour(await browser.newPage(), picture, 'gif')).toEqual([255, 255, 255]);
    const nothing = row(3, []);
    expect([...(await sharp(nothing).raw().toBuffer()).subarray(0, 3)]).toEqual([0, 0, 0]);
    expect(await shownColour(await browser.newPage(), nothing, 'gif')).toEqual([255, 255, 255]);
  });

  test('shows black where libvips shows nothing, of a colour beyond the table', async () => {
    expect(await cornerDifference(await browser.newPage(), beyond(3, 6), 'gif')).toBe(255);
  });

  test('shows the frame behind an extension without a block', async () => {
    const page = await browser.newPage();
    const picture = behindTheEnd(...EMPTY);
    expect((await sharp(picture).metadata()).pages).toBe(1);
    const shown = () => shownColour(page, picture, 'gif');
    await expect.poll(shown).toEqual([30, 200, 30]);
  });
});
