import type { Database } from '#db/client.ts';
import type { Failure } from '#db/queries/failures.ts';
import type { RunFence } from '#db/queries/runs.ts';
import type { FetchedDetails } from '#src/ingest/fetch-details.ts';
import { type Settled, settleDetails } from '#src/ingest/settle-details.ts';

/**
 * A slow application takes minutes over a page. What has come is written down this often, beside the calls: a
 * crash costs no more, and a hundred pages that began together do not all write at their end.
 */
const WRITE_EVERY_MS = 1_000;

export type Settler = {
  /** Take note of what came so far. @returns 'stop' when the run is not held any more: nothing would be written. */
  onAnswer: (soFar: FetchedDetails) => 'go on' | 'stop';
  /** Write down the rest. @returns what all writes counted, or undefined when the run is not held any more. */
  finish: (fetched: FetchedDetails, givenUp: readonly Failure[]) => Promise<Settled | undefined>;
};

const sumOf = (a: Settled, b: Settled): Settled => ({
  open: b.open,
  inserted: a.inserted + b.inserted,
  updated: a.updated + b.updated,
  unchanged: a.unchanged + b.unchanged,
  invalid: a.invalid + b.invalid,
  failed: a.failed + b.failed,
  missing: a.missing + b.missing,
});

/**
 * Settle a batch of details while it is fetched. Each write is given all that came until then and was not written
 * yet: one that failed is made up for by the next. What is written is let go of, but for its ids.
 */
export const settleAlong = (
  sql: Database,
  hold: RunFence,
  page_num: number,
  writeEveryMs = WRITE_EVERY_MS,
): Settler => {
  let held = true;
  let settled: Settled | undefined;
  let writing: Promise<void> | undefined;
  let lastMs = performance.now();

  const write = async (fetched: FetchedDetails, givenUp: readonly Failure[]): Promise<void> => {
    const landed = [...fetched.landed];
    const now = await settleDetails(sql, hold, page_num, { ...fetched, landed }, givenUp);
    if (now === undefined) {
      held = false;
      return;
    }
    settled = settled === undefined ? now : sumOf(settled, now);
    fetched.landed.splice(0, landed.length);
    fetched.stored.push(...landed.map((game) => game.application_game_id));
  };

  return {
    onAnswer: (soFar) => {
      if (!held) return 'stop';
      if (writing !== undefined || performance.now() - lastMs < writeEveryMs) return 'go on';
      writing = write(soFar, [])
        // A database that is away is told of at the end, when there is no other chance.
        .catch(() => {})
        .finally(() => {
          writing = undefined;
          lastMs = performance.now();
        });
      return 'go on';
    },
    finish: async (fetched, givenUp) => {
      await writing;
      if (held) await write(fetched, givenUp);
      return held ? settled : undefined;
    },
  };
};
