import { CatalogueError } from '#src/errors.ts';

/** Why a value could not be sealed or opened. */
export type KeyErrorCode =
  /** There is no key to seal with. */
  | 'no_key'
  /** This process lacks the keys that wrap the data key. */
  | 'unknown_key'
  /** The bytes were changed, cut, moved, or sealed under another key. */
  | 'does_not_open'
  /** This release does not read this version of the byte format. */
  | 'unknown_version'
  /** The key service refused, or did not respond. */
  | 'key_service';

/** Names the key id and the record, never content, because it may be stored, logged and shown. */
export class KeyError extends CatalogueError {
  override readonly name = 'KeyError';
  readonly code: KeyErrorCode;

  constructor(code: KeyErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
  }

  /** Can a retry succeed without a change of keys? */
  get retryable(): boolean {
    return this.code === 'key_service';
  }
}

export const isKeyError = (error: unknown): error is KeyError => error instanceof KeyError;
