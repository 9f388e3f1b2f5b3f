const [EXTENSION, IMAGE, GRAPHIC_CONTROL] = [0x21, 0x2c, 0xf9];
const [SCREEN_END, IMAGE_BYTES, CONTROL_BYTES] = [13, 10, 4];

/** Returns the bytes of a colour table; 0 if its flag is not set. */
const tableBytes = (flags = 0): number => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));

const [CODES, CODE_BITS_MAX] = [4_096, 12];

/**
 * Reads the codes (LZW) at `at` until they have made this many pixels. It reads the blocks in place, and makes no
 * array for a code, because the largest pictures leave the decoder no memory for more.
 * @returns the pixels that are left, and the highest number of a colour
 */
const readPixels = (gif: Buffer, at: number, pixels: number): { left: number; highest: number } => {
  const colourBits = gif[at] ?? 0;
  const clear = 2 ** colourBits;
  /** Of the pixels that each code makes: how many, the colour of the first, and the highest. */
  const lengths = new Uint32Array(CODES).fill(1, 0, clear);
  const firsts = Uint8Array.from({ length: CODES }, (_, code) => code);
  const highests = firsts.slice();
  let [bits, next, former, left, highest] = [colourBits + 1, clear + 2, -1, pixels, 0];
  /** Bits that were read and are of no code yet, and how many; the bytes that the block has left. */
  let [held, heldBits, inBlock] = [0, 0, 0];
  for (let place = at + 1; left > 0 && place < gif.length; place += 1) {
    const byte = gif[place] ?? 0;
    if (inBlock === 0) {
      if (byte === 0) break;
      inBlock = byte;
      continue;
    }
    inBlock -= 1;
    held |= byte << heldBits;
    heldBits += 8;
    while (left > 0 && heldBits >= bits) {
      const code = held & ((1 << bits) - 1);
      held >>= bits;
      heldBits -= bits;
      if (code === clear) {
        bits = colourBits + 1;
        next = clear + 2;
        former = -1;
        continue;
      }
      if (code === clear + 1 || code > next || (former < 0 && code > clear)) return { left, highest };
      if (former >= 0 && next < CODES) {
        lengths[next] = (lengths[former] ?? 0) + 1;
        firsts[next] = firsts[former] ?? 0;
        highests[next] = Math.max(highests[former] ?? 0, firsts[code] ?? 0);
        next += 1;
        if (next === 1 << bits && bits < CODE_BITS_MAX) bits += 1;
      }
      former = code;
      left -= lengths[code] ?? 0;
      highest = Math.max(highest, highests[code] ?? 0);
    }
  }
  return { left, highest };
};

/**
 * Has the frame at `at`, with its codes at `codes`, no pixel of a colour that its table lacks, and a pixel at each place of
 * the screen, unless it says what is transparent?
 */
const hasPlainPixels = (
  gif: Buffer,
  at: number,
  codes: number,
  colours: number,
  isTransparent: boolean,
): boolean => {
  if (isTransparent && 2 ** (gif[codes] ?? 0) <= colours) return true;
  const number = (place: number): number => gif.readUInt16LE(place);
  const [width, height] = [number(at + 5), number(at + 7)];
  const isWhole = number(at + 1) + number(at + 3) === 0 && width >= number(6) && height >= number(8);
  const { left, highest } = readPixels(gif, codes, width * height);
  return highest < colours && (isTransparent || (isWhole && left <= 0));
};

/** Finds what is behind the blocks from `at`. */
const behindBlocks = (gif: Buffer, at: number): number => {
  let block = at;
  for (let size = gif[block] ?? 0; size > 0; size = gif[block] ?? 0) block += 1 + size;
  return block + 1;
};

/** Counts the frames as browsers do: libvips ends at an extension whose first block is empty. */
export const countGifFrames = (gif: Buffer): number => {
  let frames = 0;
  for (let at = SCREEN_END + tableBytes(gif[10]); gif[at] === EXTENSION || gif[at] === IMAGE; ) {
    const isImage = gif[at] === IMAGE;
    if (isImage) frames += 1;
    at = behindBlocks(gif, at + (isImage ? IMAGE_BYTES + tableBytes(gif[at + IMAGE_BYTES - 1]) + 1 : 2));
  }
  return frames;
};

/** The width and the height that the decoder gives a picture. */
type Size = { width: number; height: number };

/**
 * Do programs show the first frame of a GIF alike? In place of some screens, libvips shows the frames alone. Decoders
 * differ if there are two graphic controls before it (some take the first, others the last), a control of another length,
 * codes of fewer than two bits, no table of colours, or pixels of a colour that the table lacks. They differ in places without
 * a pixel if no control names a transparent colour, because some show black, others nothing.
 */
export const isPlainGif = (gif: Buffer, { width, height }: Size): boolean => {
  if (gif.readUInt16LE(6) !== width || gif.readUInt16LE(8) !== height) return false;
  const common = tableBytes(gif[10]);
  let controls = 0;
  let isTransparent = false;
  for (let at = SCREEN_END + common; gif[at] === EXTENSION || gif[at] === IMAGE; ) {
    if (gif[at] === IMAGE) {
      const own = tableBytes(gif[at + IMAGE_BYTES - 1]);
      const codes = at + IMAGE_BYTES + own;
      const codeBits = gif[codes] ?? 0;
      const isUsual = controls <= 1 && codeBits >= 2 && codeBits <= 8 && common + own > 0;
      return isUsual && hasPlainPixels(gif, at, codes, (own || common) / 3, isTransparent);
    }
    if (gif[at + 1] === GRAPHIC_CONTROL) {
      if (gif[at + 2] !== CONTROL_BYTES || gif[at + 3 + CONTROL_BYTES] !== 0) return false;
      controls += 1;
      isTransparent = ((gif[at + 3] ?? 0) & 1) === 1;
    }
    at = behindBlocks(gif, at + 2);
  }
  return false;
};
