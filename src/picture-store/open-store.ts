import { openFileStore } from '#src/picture-store/file-store.ts';
import type { StoreLocation } from '#src/picture-store/location.ts';
import type { PictureStore } from '#src/picture-store/store.ts';

/** Opens the store. The client of S3 is loaded only for a bucket. */
export const openPictureStore = async (location: StoreLocation): Promise<PictureStore> => {
  if (location.kind === 'file') return openFileStore(location.directory);
  const { openS3Store } = await import('#src/picture-store/s3-store.ts');
  return openS3Store(location);
};
