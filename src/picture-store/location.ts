import { resolve } from 'node:path';

/** Where the store is: PICTURE_STORE. */
export type StoreLocation =
  | { kind: 'file'; directory: string }
  | { kind: 's3'; bucket: string; prefix: string; endpoint: string | undefined };

const FORMS = 'must be file:/path or s3://bucket/prefix';

/** Parses PICTURE_STORE. @throws Error with what is wrong */
export const parseStoreLocation = (text: string): StoreLocation => {
  if (text.startsWith('file:')) {
    const path = text.slice('file:'.length).replace(/^\/\/(?=\/)/, '');
    if (!path.startsWith('/')) throw new Error(`${FORMS}: the path begins with /`);
    return { kind: 'file', directory: resolve(path) };
  }
  const [, bucket, prefix = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text) ?? [];
  if (bucket === undefined) throw new Error(FORMS);
  const parts = prefix.split('/').filter((part) => part !== '');
  if (!parts.every((part) => /^[\w!.*'()-]+$/.test(part)))
    throw new Error("has a prefix with other characters than letters, digits and /!-_.*'()");
  return { kind: 's3', bucket, prefix: parts.map((part) => `${part}/`).join(''), endpoint: undefined };
};
