import { isPlainCicp } from '#src/rules/cicp.ts';

/** @returns a function that reads the next bits as a number; it throws a RangeError behind the end */
const createBitReader = (bytes: Buffer) => {
  let at = 0;
  return (bits: number): number => {
    let number = 0;
    for (const end = at + bits; at < end; at += 1)
      number = 2 * number + ((bytes.readUInt8(at >> 3) >> (7 - (at & 7))) & 1);
    return number;
  };
};

const TWELVE_BIT_PROFILE = 2;
const COLOURED_PROFILE = 1;

/** RGB itself in the place of luma and chroma. */
const IDENTITY = 0;

/**
 * Does the sequence header of AV1 (section 5.5) describe usual colours, in a picture without times? An AVIF that names no
 * colours has these, and libvips ignores them.
 * @param named the matrix that the AVIF names; a browser takes RGB for luma and chroma if the AVIF leaves it open
 */
export const isPlainSequence = (header: Buffer, named?: number): boolean => {
  const read = createBitReader(header);
  const profile = read(3);
  read(1);
  const isReduced = read(1) === 1;
  if (isReduced) read(5);
  else {
    const hasTimes = read(1) === 1;
    // Then come the delays of its decoder, and the number of its layers less one.
    if (hasTimes || read(6) !== 0) return false;
    read(12);
    const level = read(5);
    if (level > 7) read(1);
  }
  const [widthBits, heightBits] = [read(4) + 1, read(4) + 1];
  read(widthBits);
  read(heightBits);
  if (!isReduced && read(1) === 1) read(7);
  // Tools of the decoder, up to the colours.
  read(3);
  if (!isReduced) {
    read(4);
    const hasOrder = read(1) === 1;
    if (hasOrder) read(2);
    const choosesTools = read(1) === 1;
    if ((choosesTools || read(1) === 1) && read(1) === 0) read(1);
    if (hasOrder) read(3);
  }
  read(3);
  const isDeep = read(1) === 1;
  if (profile === TWELVE_BIT_PROFILE && isDeep) read(1);
  if (profile !== COLOURED_PROFILE) read(1);
  const isDescribed = read(1) === 1;
  if (!isDescribed) return named !== IDENTITY;
  const [primaries, transfer, matrix] = [read(8), read(8), read(8)];
  const isAgreed = named === undefined || (named === IDENTITY) === (matrix === IDENTITY);
  return isAgreed && isPlainCicp(primaries, transfer, matrix);
};
