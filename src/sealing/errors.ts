import { CatalogueError } from '#src/errors.ts';

/** Why a sealed value could not be sealed or opened; what callers switch on. */
export type KeyErrorCode =
  /** There is no key to seal under. */
  | 'no_key'
  /** The data key was wrapped by keys that this process does not hold. */
  | 'unknown_key'
  /** The bytes are not what was sealed for this place under this key: changed, cut, moved, or another key. */
  | 'does_not_open'
  /** The bytes begin with a version of the format that this release does not read. */
  | 'unknown_version'
  /** The key management service refused or did not answer. */
  | 'key_service';

/** Names the key id and the record, never content: it may be stored, logged and shown. */
export class KeyError extends CatalogueError {
  override readonly name = 'KeyError';
  readonly code: KeyErrorCode;

  constructor(code: KeyErrorCode, message: string) {
    super(message);
    this.code = code;
  }

  /** May the same work succeed later without anybody changing anything? */
  get retryable(): boolean {
    return this.code === 'key_service';
  }
}

export const isKeyError = (error: unknown): error is KeyError => error instanceof KeyError;
