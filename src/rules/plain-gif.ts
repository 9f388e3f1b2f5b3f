const [EXTENSION, IMAGE, GRAPHIC_CONTROL] = [0x21, 0x2c, 0xf9];
const [SCREEN_END, IMAGE_BYTES] = [13, 10];

/** The colours of a table; 0 if its flag is not set. */
const tableBytes = (flags = 0): number => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));

/**
 * Do programs show the first frame of a GIF alike? Of two graphic controls before it, one decoder takes the first and
 * another one the last; decoders also differ in codes of fewer than two bits, and without a table of colours.
 */
export const isPlainGif = (gif: Buffer): boolean => {
  const common = tableBytes(gif[10]);
  let controls = 0;
  for (let at = SCREEN_END + common; gif[at] === EXTENSION || gif[at] === IMAGE; ) {
    if (gif[at] === IMAGE) {
      const own = tableBytes(gif[at + IMAGE_BYTES - 1]);
      const codeBits = gif[at + IMAGE_BYTES + own] ?? 0;
      return controls <= 1 && codeBits >= 2 && codeBits <= 8 && common + own > 0;
    }
    if (gif[at + 1] === GRAPHIC_CONTROL) controls += 1;
    at += 2;
    while ((gif[at] ?? 0) > 0) at += 1 + (gif[at] ?? 0);
    at += 1;
  }
  return false;
};
