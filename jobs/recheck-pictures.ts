import { readFreshOutcome } from '#db/queries/picture-fetches.ts';
import { type DuePicture, scheduleCheck, takeDuePictures } from '#db/queries/picture-pins.ts';
import { correctChecksAhead } from '#db/queries/times-ahead.ts';
import { isPassing } from '#src/contract/pictures.ts';
import { recheckPictures } from '#src/ingest/specs.ts';
import type { MediaContext } from '#src/pictures/dependencies.ts';
import { identifyPins, setAsideMisidentified } from '#src/pictures/identify-pins.ts';
import { defineJob } from '#src/queue/job.ts';
import { nextCheckMs } from '#src/rules/pictures.ts';

/** Pictures of one step. */
const BATCH = 200;
/** A picture whose process was killed is due again after this time. */
const LEASE_MS = 15 * 60_000;
/** The job ends after it; the next one, a minute after this one began, continues. */
const WORK_MS = 50_000;

/** Looks again at the pictures of decided games that are due: bytes that changed return a passed game to review. */
export const recheckPicturesJob = defineJob(recheckPictures, async (_payload, context: MediaContext) => {
  const { deps, signal } = context;
  const { sql, pictures, keeper, recheckMs } = deps;
  let requested = 0;
  let drifted = 0;
  const check = async ({ picture_id, lease, ...picture }: DuePicture): Promise<void> => {
    const result = await pictures.refresh(picture, 'check', signal);
    // Without a request, the bytes may have changed since the decision all the same: another look saw it.
    const games = result.outcome === undefined ? await pictures.compare(picture_id) : result.drifted;
    // What is stored decides, because the last request may have been another look's, and may have failed.
    const outcome = await readFreshOutcome(sql, picture_id);
    const isFailure = outcome === undefined || isPassing(outcome);
    const pauseMs = result.outcome === undefined ? result.failure?.retryAfterMs : undefined;
    await scheduleCheck(
      sql,
      { picture_id, lease },
      pauseMs ?? nextCheckMs(isFailure, recheckMs, Math.random()),
    );
    if (result.outcome !== undefined) requested += 1;
    drifted += games.length;
  };
  const began = performance.now();
  await correctChecksAhead(sql, recheckMs);
  const identified = await identifyPins(sql, signal);
  for (let count = BATCH; count === BATCH && performance.now() - began < WORK_MS; ) {
    const { due, taken } = await takeDuePictures(sql, BATCH, LEASE_MS);
    count = taken.length;
    // Before the checks, because pictures of games that were just decided are among them; and after, for new bytes.
    await keeper?.place(taken);
    await Promise.all((await setAsideMisidentified(sql, due)).map(check));
    await keeper?.place(due.map(({ picture_id }) => picture_id));
    signal.throwIfAborted();
  }
  return { requested, drifted, identified };
});
