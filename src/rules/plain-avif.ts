/**
 * The structure of an AVIF. A file may hold several pictures, layers, crops and pictures that are made of others, of which
 * programs show different ones.
 */

import { isPlainCicp } from '#src/rules/cicp.ts';
import { isPlainSequence } from '#src/rules/plain-av1.ts';

type Box = { type: string; data: Buffer };

/** @throws RangeError if a box does not end where its parent does */
const readBoxes = (bytes: Buffer): Box[] => {
  const boxes: Box[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = bytes.readUInt32BE(at);
    // A box of size 0 reaches to the end. A size of 1 means that a size of 64 bits follows, which no picture needs.
    const end = size === 0 ? bytes.length : at + size;
    if (end < at + 8 || end > bytes.length) throw new RangeError('a box of another length');
    boxes.push({ type: bytes.toString('latin1', at + 4, at + 8), data: bytes.subarray(at + 8, end) });
    at = end;
  }
  return boxes;
};

const only = (boxes: readonly Box[], type: string): Buffer => {
  const [box, ...others] = boxes.filter((each) => each.type === type);
  if (box === undefined || others.length > 0) throw new RangeError(`not one ${type}`);
  return box.data;
};
const all = (boxes: readonly Box[], types: readonly string[]): boolean =>
  boxes.every(({ type }) => types.includes(type));

/** Version and flags. */
const FULL_BOX_BYTES = 4;
const ALPHA = ['urn:mpeg:mpegB:cicp:systems:auxiliary:alpha', 'urn:mpeg:hevc:2015:auxid:1'];
/** No crop, no turn, no layers (`clap`, `irot`, `imir`, `lsel`, `a1op`, `a1lx`), nothing that a program may not know. */
const PROPERTIES = ['av1C', 'ispe', 'pixi', 'colr', 'auxC', 'pasp'];

const isNumbered = ({ type, data }: Box): boolean =>
  type === 'colr' && data.toString('latin1', 0, 4) === 'nclx';

const isPlainProperty = (box: Box): boolean => {
  const { type, data } = box;
  if (type === 'auxC') return ALPHA.includes(data.toString('latin1', FULL_BOX_BYTES).split('\0')[0] ?? '');
  if (!isNumbered(box)) return true;
  return isPlainCicp(data.readUInt16BE(4), data.readUInt16BE(6), data.readUInt16BE(8));
};

type Item = { id: number; type: string };

const readItems = (iinf: Buffer): Item[] =>
  readBoxes(iinf.subarray(FULL_BOX_BYTES + (iinf[0] === 0 ? 2 : 4))).map(({ data }) => {
    const isLong = data[0] === 3;
    const type = FULL_BOX_BYTES + (isLong ? 6 : 4);
    return {
      id: isLong ? data.readUInt32BE(FULL_BOX_BYTES) : data.readUInt16BE(FULL_BOX_BYTES),
      type: data.toString('latin1', type, type + 4),
    };
  });

/** Finds the bytes of each item. @throws RangeError for an item in several pieces, or outside the file */
const readPlaces = (iloc: Buffer): Map<number, { start: number; length: number }> => {
  let at = FULL_BOX_BYTES;
  const read = (bytes: number): number => {
    at += bytes;
    return bytes === 0 ? 0 : iloc.readUIntBE(at - bytes, bytes);
  };
  const version = iloc[0] ?? 0;
  const [sizes, others] = [read(1), read(1)];
  const [offsetBytes, lengthBytes, baseBytes] = [sizes >> 4, sizes & 15, others >> 4];
  const indexBytes = version === 0 ? 0 : others & 15;
  const places = new Map<number, { start: number; length: number }>();
  for (let left = read(version === 2 ? 4 : 2); left > 0; left -= 1) {
    const id = read(version === 2 ? 4 : 2);
    if (version > 0 && read(2) !== 0) throw new RangeError('an item outside the file');
    read(2);
    const base = read(baseBytes);
    if (read(2) !== 1) throw new RangeError('an item in pieces');
    read(indexBytes);
    places.set(id, { start: base + read(offsetBytes), length: read(lengthBytes) });
  }
  return places;
};

const [SEQUENCE_HEADER, FRAME_HEADER, FRAME, TILE_LIST] = [1, 3, 6, 8];

/** A size has at most eight bytes of seven bits. */
const LEB128_MAX_SHIFT = 49;

/** Is it one frame of AV1, of one layer? One decoder shows the first frame, another one the last. @param matrix see isPlainSequence */
const isOneFrame = (av1: Buffer, matrix?: number): boolean => {
  const counts = { headers: 0, frames: 0 };
  for (let at = 0; at < av1.length; ) {
    const header = av1.readUInt8(at);
    const type = (header >> 3) & 15;
    const [isExtended, hasSize] = [(header & 4) !== 0, (header & 2) !== 0];
    if (isExtended || !hasSize || type === TILE_LIST) return false;
    let size = 0;
    for (let shift = 0, more = true; more; shift += 7) {
      at += 1;
      const byte = av1.readUInt8(at);
      size += (byte & 127) * 2 ** shift;
      more = byte > 127 && shift < LEB128_MAX_SHIFT;
    }
    if (type === SEQUENCE_HEADER) {
      counts.headers += 1;
      if (!isPlainSequence(av1.subarray(at + 1, at + 1 + size), matrix)) return false;
    }
    if (type === FRAME_HEADER || type === FRAME) counts.frames += 1;
    at += 1 + size;
  }
  return counts.headers === 1 && counts.frames === 1;
};

/** Does this reference lead from another picture to the primary one alone? Turned round, libheif shows the other one. */
const isOfPrimary = (
  reference: Buffer,
  idBytes: number,
  primary: number,
  others: readonly Item[],
): boolean => {
  const from = reference.readUIntBE(0, idBytes);
  const to = reference.readUIntBE(idBytes + 2, idBytes);
  const count = reference.readUInt16BE(idBytes);
  return others.some(({ id }) => id === from) && count === 1 && to === primary;
};

const checkPlain = (bytes: Buffer): boolean => {
  const boxes = readBoxes(bytes);
  if (!all(boxes, ['ftyp', 'meta', 'mdat', 'free', 'skip'])) return false;
  const meta = readBoxes(only(boxes, 'meta').subarray(FULL_BOX_BYTES));
  if (!all(meta, ['hdlr', 'pitm', 'iloc', 'iinf', 'iprp', 'iref', 'free'])) return false;

  const pitm = only(meta, 'pitm');
  const primary = pitm.readUIntBE(FULL_BOX_BYTES, pitm[0] === 0 ? 2 : 4);
  const items = readItems(only(meta, 'iinf'));
  const pictures = items.filter(({ type }) => type === 'av01');
  const isKnown = items.every(({ type }) => ['av01', 'Exif', 'mime'].includes(type));
  if (!isKnown || !pictures.some(({ id }) => id === primary)) return false;

  const properties = readBoxes(only(readBoxes(only(meta, 'iprp')), 'ipco'));
  const colours = properties.filter(({ type }) => type === 'colr').map(({ data }) => data.readUInt32BE());
  if (!all(properties, PROPERTIES) || !properties.every(isPlainProperty)) return false;
  if (new Set(colours).size < colours.length) return false;
  // A transparency of another size: libvips fits it, Chromium shows nothing.
  const sizes = properties.filter(({ type }) => type === 'ispe').map(({ data }) => data.toString('hex'));
  if (new Set(sizes).size > 1) return false;

  const hasReferences = meta.some(({ type }) => type === 'iref');
  const iref = hasReferences ? only(meta, 'iref') : Buffer.alloc(FULL_BOX_BYTES);
  const references = readBoxes(iref.subarray(FULL_BOX_BYTES));
  const alphas = references.filter(({ type }) => type === 'auxl');
  // The picture, and at most one with its transparency.
  if (!all(references, ['auxl', 'cdsc']) || pictures.length !== 1 + alphas.length || alphas.length > 1)
    return false;
  const idBytes = iref[0] === 0 ? 2 : 4;
  const others = pictures.filter(({ id }) => id !== primary);
  if (!alphas.every(({ data }) => isOfPrimary(data, idBytes, primary, others))) return false;

  const matrix = properties.find(isNumbered)?.data.readUInt16BE(8);
  const places = readPlaces(only(meta, 'iloc'));
  return pictures.every(({ id }) => {
    const { start = 0, length = 0 } = places.get(id) ?? {};
    return isOneFrame(bytes.subarray(start, start + length), id === primary ? matrix : undefined);
  });
};

/** Is it one picture, with at most its transparency, that programs show alike? */
export const isPlainAvif = (bytes: Buffer): boolean => {
  try {
    return checkPlain(bytes);
  } catch {
    return false;
  }
};
