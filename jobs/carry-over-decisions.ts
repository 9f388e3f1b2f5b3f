import { takeCarryCandidates } from '#db/queries/carried-decisions.ts';
import { carryOverDecisions } from '#src/ingest/specs.ts';
import { carryOverOne } from '#src/pictures/carry-over.ts';
import type { MediaContext } from '#src/pictures/dependencies.ts';
import { defineJob } from '#src/queue/job.ts';

/** Games of one step. */
const BATCH = 50;
/** A game whose process was killed is looked at again after this time. */
const LEASE_MS = 15 * 60_000;
/** The job ends after it; the next one, a minute after this one began, continues. */
const WORK_MS = 50_000;

/** Carries decisions over to new revisions of games of which only the addresses of pictures have changed. */
export const carryOverDecisionsJob = defineJob(
  carryOverDecisions,
  async (_payload, { deps, signal }: MediaContext) => {
    let compared = 0;
    let carried = 0;
    const began = performance.now();
    for (let taken = BATCH; taken === BATCH && performance.now() - began < WORK_MS; ) {
      const candidates = await takeCarryCandidates(deps.sql, BATCH, LEASE_MS);
      taken = candidates.length;
      const results = await Promise.all(candidates.map((each) => carryOverOne(deps, each, signal)));
      compared += results.length;
      carried += results.filter((wasCarried) => wasCarried).length;
      signal.throwIfAborted();
    }
    return { compared, carried };
  },
);
