import { pruneJob } from '#jobs/prune.ts';
import { pullGameDetailJob } from '#jobs/pull-game-detail.ts';
import { queryCpKycJob } from '#jobs/query-cp-kyc.ts';
import { queryGameDetailJob } from '#jobs/query-game-detail.ts';
import { queryGameListJob } from '#jobs/query-game-list.ts';
import { tickJob } from '#jobs/tick.ts';
import type { JobDependencies } from '#src/ingest/dependencies.ts';
import { jobSpecs } from '#src/ingest/specs.ts';
import { defineJobs } from '#src/queue/job.ts';

/** Every job of the fleet: file name = queue name = name on the board. */
export const jobs = defineJobs<JobDependencies>(jobSpecs, [
  tickJob,
  queryGameListJob,
  queryGameDetailJob,
  queryCpKycJob,
  pullGameDetailJob,
  pruneJob,
]);
