import { defineChannel } from '#src/lib/channel.ts';
import type { StoreErrorCode } from '#src/picture-store/errors.ts';

/** Publishes each failure of the store of pictures: metrics subscribe. */
export const pictureStoreFailed = defineChannel<{ code: StoreErrorCode }>('catalogue.picture-store-failed');
