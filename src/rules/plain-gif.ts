const [EXTENSION, IMAGE, GRAPHIC_CONTROL] = [0x21, 0x2c, 0xf9];
const [SCREEN_END, IMAGE_BYTES, CONTROL_BYTES] = [13, 10, 4];

/** Returns the bytes of a colour table; 0 if its flag is not set. */
const tableBytes = (flags = 0): number => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));

/** Does the frame at `at` cover the whole screen? */
const coversScreen = (gif: Buffer, at: number): boolean => {
  const number = (place: number): number => gif.readUInt16LE(place);
  return number(at + 1) + number(at + 3) === 0 && number(at + 5) >= number(6) && number(at + 7) >= number(8);
};

/**
 * Do programs show the first frame of a GIF alike? Of two graphic controls before it, one decoder takes the first and
 * another one the last, and not each takes one of another length; decoders also differ in codes of fewer than two bits,
 * without a table of colours, and in what is around a frame that no control says to be transparent: it is black, or nothing.
 */
export const isPlainGif = (gif: Buffer): boolean => {
  const common = tableBytes(gif[10]);
  let controls = 0;
  let isTransparent = false;
  for (let at = SCREEN_END + common; gif[at] === EXTENSION || gif[at] === IMAGE; ) {
    if (gif[at] === IMAGE) {
      const own = tableBytes(gif[at + IMAGE_BYTES - 1]);
      const codeBits = gif[at + IMAGE_BYTES + own] ?? 0;
      const isUsual = controls <= 1 && codeBits >= 2 && codeBits <= 8 && common + own > 0;
      return isUsual && (isTransparent || coversScreen(gif, at));
    }
    if (gif[at + 1] === GRAPHIC_CONTROL) {
      if (gif[at + 2] !== CONTROL_BYTES || gif[at + 3 + CONTROL_BYTES] !== 0) return false;
      controls += 1;
      isTransparent = ((gif[at + 3] ?? 0) & 1) === 1;
    }
    at += 2;
    while ((gif[at] ?? 0) > 0) at += 1 + (gif[at] ?? 0);
    at += 1;
  }
  return false;
};
