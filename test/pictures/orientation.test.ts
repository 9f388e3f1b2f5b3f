import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { flat, uint16, uint32, useDecoder, withSegments } from '#test/support/picture-parts.ts';

const decode = useDecoder();
const TURNED = 6;
const PICTURE = flat().resize(80, 40, { fit: 'fill' });
const JPEG = await PICTURE.clone().jpeg().toBuffer();

/** The tag of an orientation: a number of type 3 (2 bytes), 4 (4 bytes) or 1 (a byte). */
const tag = (value: number, type = 3, count = 1): Buffer =>
  Buffer.concat([
    uint16(0x0112, type),
    uint32(count),
    type === 3 ? uint16(value, value) : type === 4 ? uint32(value) : Buffer.from([value, 0, 0, 0]),
  ]);
const exif = (tags: Buffer[], head = 'Exif\0\0'): Buffer => {
  const block = Buffer.concat([
    Buffer.from(`${head}MM\0*`, 'latin1'),
    uint32(8),
    uint16(tags.length),
    ...tags,
    uint32(0),
  ]);
  return Buffer.concat([Buffer.from([0xff, 0xe1]), uint16(block.length + 2), block]);
};
/** A JPEG of these dots in an inch, across and down, whose size at 72 is named too. */
const dotted = (across: number, down: number): Buffer => {
  const [LIST_AT, NAMED_AT, DOTS_AT] = [8, 62, 92];
  const one = (name: number, type: number, value: number) =>
    Buffer.concat([uint16(name, type), uint32(1), type === 3 ? uint16(value, 0) : uint32(value)]);
  const named = [one(0xa002, 4, (80 * 72) / across), one(0xa003, 4, (40 * 72) / down)];
  const list = [
    one(0x011a, 5, DOTS_AT),
    one(0x011b, 5, DOTS_AT + 8),
    one(0x0128, 3, 2),
    one(0x8769, 4, NAMED_AT),
  ];
  const block = Buffer.concat([
    Buffer.from('Exif\0\0MM\0*', 'latin1'),
    ...[uint32(LIST_AT), uint16(list.length), ...list, uint32(0)],
    ...[uint16(named.length), ...named, uint32(0), uint32(across, 1, down, 1)],
  ]);
  return jpegWith(Buffer.concat([Buffer.from([0xff, 0xe1]), uint16(block.length + 2), block]));
};
const jpegWith = (...segments: Buffer[]): Buffer => withSegments(JPEG, ...segments);
const webp = () => PICTURE.clone().withMetadata({ orientation: TURNED }).webp().toBuffer();
const LONG = jpegWith(exif([tag(TURNED, 4)]));

test('a JPEG is turned by its Exif', async () => {
  for (const file of [jpegWith(exif([tag(TURNED)])), jpegWith(exif([tag(1)])), jpegWith(exif([]))])
    expect(await decode(file)).toBe(1);
});

test('a picture that programs turn differently is not shown: of another type, or by an odd form of Exif', async () => {
  const odd = {
    'a WebP': await webp(),
    'a PNG': await PICTURE.clone().withMetadata({ orientation: TURNED }).png().toBuffer(),
    'four bytes': LONG,
    'one byte': jpegWith(exif([tag(TURNED, 1)])),
    'two numbers': jpegWith(exif([tag(TURNED, 3, 2)])),
    'two tags': jpegWith(exif([tag(TURNED), tag(1)])),
    'two blocks': jpegWith(exif([tag(1)]), exif([tag(TURNED)])),
    'another head': jpegWith(exif([tag(TURNED)], 'Exif\0\xff')),
    'many blocks': jpegWith(...Array.from({ length: 17 }, () => exif([]))),
  };
  for (const [name, file] of Object.entries(odd)) expect(await decode(file), name).toBe('ambiguous');
});

test('a JPEG whose pixels are not square is not shown, as a browser stretches it', async () => {
  expect(await decode(dotted(144, 144))).toBe(1);
  expect(await decode(dotted(72, 1_440))).toBe('ambiguous');
});

describe.runIf(hasBrowser())('in Chromium', () => {
  const browser = useBrowser();

  const sizeOf = async (page: Page, type: string, bytes: Buffer): Promise<[number, number]> => {
    const address = JSON.stringify(`data:image/${type};base64,${bytes.toString('base64')}`);
    return page.evaluate(
      `(async () => {
        const image = Object.assign(new Image(), { src: ${address} });
        await image.decode();
        return [image.naturalWidth, image.naturalHeight];
      })()`,
    );
  };

  test('a JPEG is stretched by its dots in an inch', async () => {
    const page = await browser.newPage();
    expect(await sizeOf(page, 'jpeg', JPEG)).toEqual([80, 40]);
    expect(await sizeOf(page, 'jpeg', dotted(72, 1_440))).toEqual([80, 2]);
  });

  test('neither such a WebP nor such a JPEG is turned, which libvips turns', async () => {
    const page = await browser.newPage();
    const widthOf = async (type: string, bytes: Buffer) => (await sizeOf(page, type, bytes))[0];
    expect([await widthOf('webp', await webp()), await widthOf('jpeg', LONG)]).toEqual([80, 80]);
    expect(await widthOf('jpeg', jpegWith(exif([tag(TURNED)])))).toBe(40);
  });
});
