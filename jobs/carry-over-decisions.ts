import { type CarryCandidate, takeCarryCandidates } from '#db/queries/carried-decisions.ts';
import { carryOverDecisions } from '#src/ingest/specs.ts';
import { carryOverOne } from '#src/pictures/carry-over.ts';
import type { MediaContext } from '#src/pictures/dependencies.ts';
import { LEASE_MS, workThrough } from '#src/pictures/work-through.ts';
import { defineJob } from '#src/queue/job.ts';

/** Games at once. */
const GAMES = 50;

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
    await workThrough({ places: GAMES, take, work });
    return { compared, carried };
  },
);
