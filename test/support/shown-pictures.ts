import { createHash } from 'node:crypto';
import type { Database } from '#db/client.ts';
import { claimPicture, recordResult, saveContent } from '#db/queries/picture-fetches.ts';
import { createReopenGames } from '#src/operations/reopen-games.ts';
import { comparePins } from '#src/pictures/compare-pins.ts';
import { createDecoder } from '#src/pictures/decoder.ts';
import { drawPicture } from '#src/sample-application/pictures.ts';

const FRESH = { http_status: 200, freshMs: 3_600_000 };

/** Stores pictures as the media process does, of each of these applications. */
export const openPictures = (sql: Database, application_ids: readonly string[]) => {
  // A busy machine starts the process slowly.
  const decoder = createDecoder({ decodeMs: 60_000 });
  const store = async (url: string, bytes: Buffer, note: string | null = null): Promise<void> => {
    const sha256 = createHash('sha256').update(bytes).digest();
    const decoded = await decoder.decode({ bytes, format: 'png' });
    if (decoded.outcome !== 'shown') throw new Error(decoded.outcome);
    await saveContent(sql, { ...decoded, sha256, bytes: bytes.length, format: 'png' });
    for (const application_id of application_ids) {
      const picture_id = (await claimPicture(sql, { application_id, url }, false))?.picture_id ?? '';
      await recordResult(sql, { ...FRESH, picture_id, outcome: 'shown', sha256, etag: null, note });
      await comparePins(sql, picture_id, createReopenGames(sql));
    }
  };
  const show = async (url: string, seed: number): Promise<void> => {
    const bytes = await drawPicture(`game-${seed}`, url.includes('icon') ? 'icon' : 'shot', 'png');
    return store(url, bytes, seed === 2 ? 'sent as image/jpeg, is png' : null);
  };
  return {
    store,
    show,
    fail: async (url: string): Promise<void> => {
      for (const application_id of application_ids) {
        const picture_id = (await claimPicture(sql, { application_id, url }, false))?.picture_id ?? '';
        await recordResult(sql, { ...FRESH, picture_id, outcome: 'not_found', http_status: 404 });
      }
    },
    /** Other bytes at the same address. */
    replace: async (url: string, seed: number): Promise<void> => {
      await sql`update pictures set fresh_until = null where url = ${url}`;
      await show(url, seed);
    },
    close: decoder.close,
  };
};
