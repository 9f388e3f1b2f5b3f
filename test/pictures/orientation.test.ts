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

describe.runIf(hasBrowser())('in Chromium', () => {
  const browser = useBrowser();

  test('neither such a WebP nor such a JPEG is turned, which libvips turns', async () => {
    const page = await browser.newPage();
    const widthOf = async (type: string, bytes: Buffer): Promise<unknown> => {
      const address = JSON.stringify(`data:image/${type};base64,${bytes.toString('base64')}`);
      return page.evaluate(
        `(async () => { const image = new Image(); image.src = ${address}; await image.decode(); return image.naturalWidth; })()`,
      );
    };
    expect([await widthOf('webp', await webp()), await widthOf('jpeg', LONG)]).toEqual([80, 80]);
    expect(await widthOf('jpeg', jpegWith(exif([tag(TURNED)])))).toBe(40);
  });
});
