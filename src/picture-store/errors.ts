import { CatalogueError } from '#src/errors.ts';

/** What an operator does about each problem of the store. */
const ADVICE = {
  full: 'it is full: free space there',
  denied: 'this process may not use it: check its rights',
  unreachable: 'it does not answer: check its address and the network',
  not_there:
    'its directory or bucket does not exist: mount it, or create it (a directory with seen and passed in it)',
  missing: 'a picture is missing there: run npx catalogue picture verify --repair, then picture backfill',
  failed: 'it reported an error',
};
export type StoreErrorCode = keyof typeof ADVICE;
export const STORE_ERROR_CODES = Object.keys(ADVICE) as StoreErrorCode[];

/** An error of the store of pictures. Its message says what to do, and has no text of the service. */
export class StoreError extends CatalogueError {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;

  /** @param detail a code of the system or the service */
  constructor(code: StoreErrorCode, where: string, detail: string) {
    super(`The store of pictures (PICTURE_STORE, ${where}): ${ADVICE[code]} (${detail}).`);
    this.code = code;
  }
}

/** Explains to a reviewer why bytes are not in the store. */
export const describeStoreError = ({ code }: StoreError): string => {
  if (code === 'full') return 'not kept: the store of pictures is full';
  return `not kept: the store of pictures ${code === 'unreachable' ? 'does not answer' : 'failed'}`;
};
