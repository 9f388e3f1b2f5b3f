import { readFreshOutcome } from '#db/queries/picture-fetches.ts';
import { type DuePicture, scheduleCheck, takeDuePictures } from '#db/queries/picture-pins.ts';
import { correctChecksAhead } from '#db/queries/times-ahead.ts';
import { isPassing } from '#src/contract/pictures.ts';
import { recheckPictures } from '#src/ingest/specs.ts';
import type { MediaContext } from '#src/pictures/dependencies.ts';
import { identifyPins, setAsideMisidentified } from '#src/pictures/identify-pins.ts';
import { LEASE_MS, workThrough } from '#src/pictures/work-through.ts';
import { defineJob } from '#src/queue/job.ts';
import { nextCheckMs } from '#src/rules/pictures.ts';

/** Pictures that one job checks at the same time. */
const CONCURRENCY = 200;

/** Checks the pictures of decided games whose next check is due. Changed bytes return a passed game to review. */
export const recheckPicturesJob = defineJob(recheckPictures, async (_payload, context: MediaContext) => {
  const { deps, signal } = context;
  const { sql, pictures, keeper, recheckMs } = deps;
  let requested = 0;
  let drifted = 0;
  const take = async (limit: number) => {
    signal.throwIfAborted();
    const { due, taken } = await takeDuePictures(sql, limit, LEASE_MS);
    // Before the checks, because the pictures of a game that was just passed are due too, and become public here.
    await keeper?.place(taken);
    return { items: await setAsideMisidentified(sql, due), isMore: taken.length === limit };
  };
  const check = async ({ picture_id, lease, ...picture }: DuePicture): Promise<void> => {
    const result = await pictures.refresh(picture, 'check', signal);
    // If no request was made, the bytes may still differ from those of the decision, because an earlier request may have
    // stored them.
    const games = result.outcome === undefined ? await pictures.compare(picture_id) : result.drifted;
    // The stored outcome decides, because another process may have made the last request, and it may have failed.
    const outcome = await readFreshOutcome(sql, picture_id);
    const isFailure = outcome === undefined || isPassing(outcome);
    const pauseMs = result.outcome === undefined ? result.failure?.retryAfterMs : undefined;
    await scheduleCheck(
      sql,
      { picture_id, lease },
      pauseMs ?? nextCheckMs(isFailure, recheckMs, Math.random()),
    );
    // The check may have brought new bytes.
    await keeper?.place([picture_id]);
    if (result.outcome !== undefined) requested += 1;
    drifted += games.length;
  };
  await correctChecksAhead(sql, recheckMs);
  const identified = await identifyPins(sql, signal);
  await workThrough({ places: CONCURRENCY, take, work: check });
  return { requested, drifted, identified };
});
