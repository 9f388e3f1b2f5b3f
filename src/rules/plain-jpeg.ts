import { isBareMarker } from '#src/rules/picture-colours.ts';

/** The beginning of a list of the pictures of one file (CIPA DC-007), in an APP2 segment. */
const LIST = 'MPF\0';
const [MARK, APP2, END] = [0xff, 0xe2, 0xd9];
const START = Buffer.from([MARK, 0xd8, MARK]);

const hasList = (jpeg: Buffer): boolean => {
  for (let at = jpeg.indexOf(LIST); at !== -1; at = jpeg.indexOf(LIST, at + 1))
    if (jpeg[at - 4] === MARK && jpeg[at - 3] === APP2) return true;
  return false;
};

/** Finds the end of the first picture. */
const endOf = (jpeg: Buffer): number => {
  for (let at = jpeg.indexOf(MARK, 2); at !== -1 && at + 4 <= jpeg.length; at = jpeg.indexOf(MARK, at)) {
    const marker = jpeg[at + 1] ?? 0;
    if (marker === END) return at + 2;
    if (marker === MARK) at += 1;
    else if (marker === 0 || isBareMarker(marker)) at += 2;
    else at += 2 + jpeg.readUInt16BE(at + 2);
  }
  return jpeg.length;
};

/**
 * Is it one picture? A second one, in a segment or behind the first, may be a gain map (ISO 21496-1), by which browsers make
 * a brighter or a darker picture of the first.
 */
export const isPlainJpeg = (jpeg: Buffer): boolean => !hasList(jpeg) && !jpeg.includes(START, endOf(jpeg));
