import { type CarryCandidate, takeCarryCandidates } from '#db/queries/carried-decisions.ts';
import { carryOverDecisions } from '#src/ingest/specs.ts';
import { carryOverOne } from '#src/pictures/carry-over.ts';
import type { MediaContext } from '#src/pictures/dependencies.ts';
import { workThrough } from '#src/pictures/work-through.ts';
import { defineJob } from '#src/queue/job.ts';

/** Games at once. */
const GAMES = 50;
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
    const take = async (limit: number) => {
      signal.throwIfAborted();
      const items = await takeCarryCandidates(deps.sql, limit, LEASE_MS);
      return { items, isMore: items.length === limit };
    };
    const work = async (candidate: CarryCandidate) => {
      const wasCarried = await carryOverOne(deps, candidate, signal);
      compared += 1;
      carried += wasCarried ? 1 : 0;
    };
    await workThrough({ places: GAMES, workMs: WORK_MS, take, work });
    return { compared, carried };
  },
);
