/**
 * Keeps the store of pictures as decisions want it: bytes that a reviewer may see are there, those of passed games are
 * public, and those that no decision names go after PICTURE_KEEP.
 */
import type { Logger } from 'pino';
import type { Database } from '#db/client.ts';
import {
  type Content,
  dropUnnamed,
  listStored,
  listStoredOf,
  listStoredOfApplication,
  setStored,
  withContent,
} from '#db/queries/picture-store.ts';
import { describeStoreError, StoreError } from '#src/picture-store/errors.ts';
import { nameOfPicture, type PictureStore, type StoredPicture } from '#src/picture-store/store.ts';
import { pictureStoreFailed } from '#src/pictures/picture-store-failed.ts';

/** Contents of one statement. */
const BATCH = 1_000;

export type PictureKeeper = {
  /**
   * Stores bytes, unless they are stored.
   * @returns why they are not, for a reviewer
   */
  keep: (picture: StoredPicture, bytes: Buffer) => Promise<string | undefined>;
  /** Makes the bytes of these pictures public, or takes them back. */
  place: (picture_ids: readonly string[]) => Promise<void>;
  /**
   * The same for every picture, and deletes what no decision names.
   * @param application_id of the pictures that decisions on its games name; absent: of the whole store
   * @returns how many it moved or deleted
   * @throws the first StoreError, after the pictures behind it
   */
  tidy: (signal: AbortSignal, application_id?: string) => Promise<{ moved: number; deleted: number }>;
};

export const createPictureKeeper = ({
  sql,
  store,
  keepMs,
  logger,
}: {
  sql: Database;
  store: PictureStore;
  /** PICTURE_KEEP */
  keepMs: number;
  logger: Logger;
}): PictureKeeper => {
  /** Reports a failure of the store. @throws any other */
  const report = (thrown: unknown): StoreError => {
    if (!(thrown instanceof StoreError)) throw thrown;
    pictureStoreFailed.publish({ code: thrown.code });
    logger.warn(thrown.message);
    return thrown;
  };

  /** Should it be elsewhere? */
  const isMisplaced = ({ stored, belongs, is_old }: Content): boolean =>
    stored !== null && (belongs === null ? stored === 'passed' || is_old : stored !== belongs);

  /** Deletes bytes that no row names any longer. A process that is killed in between leaves one file too many. */
  const deleteOne = async (content: Content): Promise<void> => {
    const { sha256, stored } = content;
    if (stored === null) return;
    await withContent(sql, sha256, keepMs, async (_, now) => {
      if (now?.stored == null) await store.delete(stored, nameOfPicture(content));
    });
  };

  /** @returns what was done */
  const placeOne = async ({ sha256 }: Content): Promise<'moved' | 'deleted' | undefined> => {
    const dropped = await withContent(sql, sha256, keepMs, async (tx, content) => {
      if (content === undefined || !isMisplaced(content)) return undefined;
      if (content.belongs === null && content.is_old)
        return (await dropUnnamed(tx, sha256)) ? content : undefined;
      const area = content.belongs ?? 'seen';
      await store.move(area, content);
      await setStored(tx, sha256, area);
      return 'moved';
    });
    if (dropped === undefined || dropped === 'moved') return dropped;
    await deleteOne(dropped);
    return 'deleted';
  };

  return {
    keep: async (picture, bytes) => {
      try {
        await withContent(sql, picture.sha256, keepMs, async (tx, content) => {
          if (content === undefined || content.stored !== null) return;
          const area = content.belongs ?? 'seen';
          await store.put(area, picture, bytes);
          const isKnown = await setStored(tx, picture.sha256, area);
          if (!isKnown) await store.delete(area, nameOfPicture(picture));
        });
        return undefined;
      } catch (thrown) {
        return describeStoreError(report(thrown));
      }
    },
    place: async (picture_ids) => {
      const contents = await listStoredOf(sql, picture_ids, keepMs);
      for (const content of contents.filter(isMisplaced)) {
        try {
          await placeOne(content);
        } catch (thrown) {
          report(thrown);
        }
      }
    },
    tidy: async (signal, application_id) => {
      const done = { moved: 0, deleted: 0 };
      let failure: StoreError | undefined;
      const readPage = (after: string) => {
        const page = { after, limit: BATCH, keepMs };
        return application_id === undefined
          ? listStored(sql, page)
          : listStoredOfApplication(sql, application_id, page);
      };
      for (let after: string | null = ''; after !== null && !signal.aborted; ) {
        const { contents, last } = await readPage(after);
        for (const content of contents.filter(isMisplaced)) {
          try {
            const what = await placeOne(content);
            if (what !== undefined) done[what] += 1;
          } catch (thrown) {
            const error = report(thrown);
            // Each picture behind it would wait as long.
            if (error.code === 'unreachable') throw error;
            failure ??= error;
          }
          signal.throwIfAborted();
        }
        after = last;
      }
      if (failure !== undefined) throw failure;
      return done;
    },
  };
};
