/** Colours by numbers (ITU-T H.273), as PNG, AVIF and AV1 name them. Unspecified is 2, for which programs take those of sRGB. */

/** Primaries of sRGB, of television and of P3. By others, colours differ more. */
const PRIMARIES: ReadonlySet<number> = new Set([1, 2, 5, 6, 7, 11, 12, 22]);
/** Transfer functions that are about that of sRGB. */
const TRANSFERS: ReadonlySet<number> = new Set([1, 2, 6, 13, 14, 15]);
/** RGB itself, and the usual ways from luma and chroma. */
const MATRICES: ReadonlySet<number> = new Set([0, 1, 2, 4, 5, 6, 7, 9]);

/** Do programs show colours with this description about as they show sRGB? */
export const isPlainCicp = (primaries: number, transfer: number, matrix: number): boolean =>
  PRIMARIES.has(primaries) && TRANSFERS.has(transfer) && MATRICES.has(matrix);
