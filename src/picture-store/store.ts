/**
 * The store of pictures: the original bytes of pictures, by their SHA-256. The media process writes it. The API serves
 * what passed games have from a directory, and a bucket serves it by itself.
 */
import { hash } from 'node:crypto';
import type { StoreArea } from '#src/contract/pictures.ts';
import type { ImageFormat } from '#src/rules/pictures.ts';

/** Bytes by their SHA-256 in hex, and their type. */
export type StoredPicture = { sha256: string; format: ImageFormat };

export const PICTURE_TYPES: Record<ImageFormat, { extension: string; contentType: string }> = {
  png: { extension: 'png', contentType: 'image/png' },
  jpeg: { extension: 'jpg', contentType: 'image/jpeg' },
  webp: { extension: 'webp', contentType: 'image/webp' },
  avif: { extension: 'avif', contentType: 'image/avif' },
  gif: { extension: 'gif', contentType: 'image/gif' },
};

/** No picture is larger: the default and the limit of PICTURE_MAX_BYTES. Of a larger file the beginning is read. */
export const PICTURE_BYTES_MAX = 10 * 1024 * 1024;

export const hashOfPicture = (bytes: Buffer): string => hash('sha256', bytes, 'hex');

export const nameOfPicture = ({ sha256, format }: StoredPicture): string =>
  `${sha256}.${PICTURE_TYPES[format].extension}`;

const NAME = /^([0-9a-f]{64})\.([a-z]{3,4})$/;

/** @returns undefined for a name that no picture of ours has */
export const parsePictureName = (name: string): StoredPicture | undefined => {
  const [, sha256 = '', extension] = NAME.exec(name) ?? [];
  const format = (Object.keys(PICTURE_TYPES) as ImageFormat[]).find(
    (each) => PICTURE_TYPES[each].extension === extension,
  );
  return format === undefined ? undefined : { sha256, format };
};

/** A file or an object of the store. */
export type StoreItem = { area: StoreArea; name: string; bytes: number };

/** Each of these throws a StoreError, and repeating each is safe. */
export type PictureStore = {
  /** Stores whole bytes or none. */
  put: (area: StoreArea, picture: StoredPicture, bytes: Buffer) => Promise<void>;
  /** Moves a picture from the other area. A picture that is here already stays. */
  move: (to: StoreArea, picture: StoredPicture) => Promise<void>;
  /** @returns undefined if it is not there, but its directory or bucket is; of a file beyond `PICTURE_BYTES_MAX`, the beginning */
  read: (area: StoreArea, name: string) => Promise<Buffer | undefined>;
  delete: (area: StoreArea, name: string) => Promise<void>;
  list: (area: StoreArea) => AsyncIterable<StoreItem>;
  close: () => void;
};
