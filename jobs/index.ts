import { prune } from '#jobs/prune.ts';
import { pullGameDetail } from '#jobs/pull-game-detail.ts';
import { queryCpKyc } from '#jobs/query-cp-kyc.ts';
import { queryGameDetail } from '#jobs/query-game-detail.ts';
import { queryGameList } from '#jobs/query-game-list.ts';
import { tick } from '#jobs/tick.ts';
import type { AnyJob } from '#src/queue/define-job.ts';

/** Every job of the fleet: file name = queue name = the name in Bull Board. */
export const jobs: readonly AnyJob[] = [
  tick,
  queryGameList,
  queryGameDetail,
  queryCpKyc,
  pullGameDetail,
  prune,
];
