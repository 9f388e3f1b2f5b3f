/** A JPEG with a gain map (ISO 21496-1, Ultra HDR): browsers make another picture of it, on usual displays too. */
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { hasBrowser, useBrowser } from '#test/support/browser.ts';
import { flat, shownColour, uint16, uint32, useDecoder, withSegments } from '#test/support/picture-parts.ts';

const SIDE = 32;
const decode = useDecoder();
const concat = (...parts: (Buffer | string)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)));
const segment = (marker: number, ...parts: (Buffer | string)[]): Buffer => {
  const data = concat(...parts);
  return concat(Buffer.from([0xff, marker]), uint16(data.length + 2), data);
};
const xmp = (attributes: string, content = ''): Buffer =>
  segment(
    0xe1,
    'http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">',
    '<rdf:Description rdf:about="" xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0" ',
    `${attributes}>${content}</rdf:Description></rdf:RDF></x:xmpmeta>`,
  );
/** "This picture is bright for HDR": elsewhere it is as dark as the map says. */
const aGainMap = async (): Promise<Buffer> =>
  withSegments(
    await flat('#ffffff', SIDE).greyscale().jpeg().toBuffer(),
    xmp(
      'hdrgm:BaseRenditionIsHDR="True" hdrgm:GainMapMin="0" hdrgm:GainMapMax="3" hdrgm:Gamma="1" hdrgm:OffsetSDR="0.015625" hdrgm:OffsetHDR="0.015625" hdrgm:HDRCapacityMin="0" hdrgm:HDRCapacityMax="3"',
    ),
  );
/** A list of two pictures (CIPA DC-007): where the second one begins, from the list on. */
const listOf = (size: number, start: number): Buffer =>
  segment(
    0xe2,
    ...['MPF\0MM\0*', uint32(8), uint16(3), uint16(0xb000, 7), uint32(4), '0100'],
    ...[uint16(0xb001, 4), uint32(1, 2), uint16(0xb002, 7), uint32(32, 50, 0)],
    ...[uint32(0x30000, 0, 0, 0), uint32(0, size, start, 0)],
  );
const LIST_HEAD = 8;

/** White for libvips: with a gain map that a list names, behind the picture or in a segment, or another directory. */
const whites = async () => {
  const [white, map] = [await flat('#ffffff', SIDE).jpeg().toBuffer(), await aGainMap()];
  const says = xmp('');
  const container = xmp(
    'xmlns:C="http://ns.google.com/photos/1.0/container/" xmlns:I="http://ns.google.com/photos/1.0/container/item/"',
    `<C:Directory><rdf:Seq><rdf:li rdf:parseType="Resource"><C:Item I:Semantic="Primary" I:Mime="image/jpeg"/></rdf:li><rdf:li rdf:parseType="Resource"><C:Item I:Semantic="GainMap" I:Mime="image/jpeg" I:Length="${map.length}"/></rdf:li></rdf:Seq></C:Directory>`,
  );
  const list = listOf(map.length, white.length - 2 + listOf(0, 0).length - LIST_HEAD);
  const listed = listOf(map.length, listOf(0, 0).length - LIST_HEAD + 4);
  return {
    named: concat(withSegments(white, says, list), map),
    inSegment: withSegments(white, says, listed, segment(0xeb, map)),
    inContainer: concat(withSegments(white, container), map),
  };
};

test('a JPEG with a second picture is not shown', async () => {
  for (const [what, jpeg] of Object.entries(await whites()))
    expect([what, await decode(jpeg)]).toEqual([what, 'ambiguous']);
});

test('a JPEG with a thumbnail, several scans or bytes behind its end is shown', async () => {
  const small = await flat('#ffffff', 8).jpeg().toBuffer();
  const progressive = await flat('#ffffff', SIDE).jpeg({ progressive: true }).toBuffer();
  for (const jpeg of [withSegments(progressive, segment(0xed, small)), concat(progressive, 'behind it')])
    expect(await decode(jpeg)).toBe(1);
});

describe.runIf(hasBrowser())('Chromium', () => {
  const browser = useBrowser();
  test('shows another picture than libvips', async () => {
    const page = await browser.newPage();
    const { named, inSegment } = await whites();
    for (const jpeg of [named, inSegment]) {
      expect([...(await sharp(jpeg).raw().toBuffer()).subarray(0, 3)]).toEqual([255, 255, 255]);
      expect((await shownColour(page, jpeg, 'jpeg'))[0]).toBeLessThan(128);
    }
  });
});
