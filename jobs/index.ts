import { carryOverDecisionsJob } from '#jobs/carry-over-decisions.ts';
import { checkApplicationJob } from '#jobs/check-application.ts';
import { deliverEventJob } from '#jobs/deliver-event.ts';
import { fetchPicturesJob } from '#jobs/fetch-pictures.ts';
import { pruneJob } from '#jobs/prune.ts';
import { pullGameDetailJob } from '#jobs/pull-game-detail.ts';
import { queryCpKycJob } from '#jobs/query-cp-kyc.ts';
import { queryGameDetailJob } from '#jobs/query-game-detail.ts';
import { queryGameListJob } from '#jobs/query-game-list.ts';
import { recheckPicturesJob } from '#jobs/recheck-pictures.ts';
import { tickJob } from '#jobs/tick.ts';
import { tidyPictureStoreJob } from '#jobs/tidy-picture-store.ts';
import type { JobDependencies } from '#src/ingest/dependencies.ts';
import { mediaSpecs, workerSpecs } from '#src/ingest/specs.ts';
import type { MediaDependencies } from '#src/pictures/dependencies.ts';
import { defineJobs } from '#src/queue/job.ts';

/** Every job of the workers: file name = queue name = name on the board. */
export const jobs = defineJobs<JobDependencies>(workerSpecs, [
  tickJob,
  queryGameListJob,
  queryGameDetailJob,
  queryCpKycJob,
  pullGameDetailJob,
  deliverEventJob,
  checkApplicationJob,
  pruneJob,
]);

/** Every job of the media process. */
export const mediaJobs = defineJobs<MediaDependencies>(mediaSpecs, [
  fetchPicturesJob,
  recheckPicturesJob,
  carryOverDecisionsJob,
  tidyPictureStoreJob,
]);
