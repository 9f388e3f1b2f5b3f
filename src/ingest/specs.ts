// Every job of the fleet without its handler. The producer, the board, the metrics and the command line open queues from
// these specifications. The handlers are in jobs/, one file a queue.
import { z } from 'zod';
import { PAGE_SIZE_MAX } from '#src/contract/application.ts';
import { SCHEDULES } from '#src/contract/words.ts';
import { type AnySpec, defineSpec } from '#src/queue/job.ts';
import { schedulerId } from '#src/rules/ticks.ts';

/** Longer than any id of an application. Without a limit, a forged job in Redis could put megabytes into a log. */
const application_id = z.string().max(100);

/** A job waits for its application nearly all of its time. Applications that do not answer must leave room for others. */
const WAITING_JOBS = 100;

/** A later job does what this one left. */
const NOT_RETRIED = { attempts: 1, backoffMs: 0 } as const;

/** A schedule is due: opens a run, or adds a KYC job. */
export const tick = defineSpec({
  name: 'tick',
  payload: z.object({ application_id, schedule: z.enum(SCHEDULES) }),
  // Retried for two to four minutes, because the next tick may come a day later.
  options: { attempts: 8, backoffMs: 2_000, concurrency: 20 },
  title: ({ application_id, schedule }) => `${application_id} ${schedule}`,
  scheduler: ({ application_id, schedule }) => schedulerId(schedule, application_id),
});

const page = z.object({
  application_id,
  run_id: z.uuid(),
  fence: z.int(),
  page_num: z.int().min(1),
});

/** A page of a run, and the unchanged pages after it; or the run's end. */
export const queryGameList = defineSpec({
  name: 'query-game-list',
  payload: page.extend({
    /** How often the details of the page before were enqueued again: see `DETAILS_AGAIN_MAX`. */
    details_again: z.int().optional(),
  }),
  // Retried after 2, 4, 8 and 16 s; then the run fails.
  options: { attempts: 5, backoffMs: 2_000, concurrency: WAITING_JOBS },
  title: ({ application_id, page_num }) => `${application_id} page ${page_num}`,
});

/** The details of one page of a run. */
export const queryGameDetail = defineSpec({
  name: 'query-game-detail',
  payload: page,
  // Retried after 2, 4 and 8 s; then the next run fetches what failed. A job has up to its application's concurrency of
  // calls in flight.
  options: { attempts: 4, backoffMs: 2_000, concurrency: WAITING_JOBS },
  title: ({ application_id, page_num }) => `${application_id} page ${page_num}`,
});

/** One application's KYC record. */
export const queryCpKyc = defineSpec({
  name: 'query-cp-kyc',
  payload: z.object({ application_id }),
  options: { attempts: 4, backoffMs: 5_000, concurrency: WAITING_JOBS },
  title: ({ application_id }) => `${application_id} kyc`,
});

/** Most games that one turn of a pull fetches: as many as a page has. */
export const PULL_MAX = PAGE_SIZE_MAX;

/** The requested details of an application, outside any run. */
export const pullGameDetail = defineSpec({
  name: 'pull-game-detail',
  payload: z.object({ application_id }),
  // Attempts of a game are counted in the database, because the queue may be lost.
  options: { attempts: 3, backoffMs: 2_000, concurrency: WAITING_JOBS },
  title: ({ application_id }) => application_id,
});

/** Events of one application, or of one subscription of the platform's stream, that are due. */
export const deliverEvent = defineSpec({
  name: 'deliver-event',
  payload: z.union([z.object({ application_id }), z.object({ subscription_id: z.uuid() })]),
  // Attempts and their delays are in the database (src/rules/deliveries.ts), because the queue may be lost. Receivers that
  // do not answer must leave room for others.
  options: { ...NOT_RETRIED, concurrency: 200 },
  title: (receiver) => Object.values(receiver).join(' '),
});

/** `app check` of one application, for a page. */
export const checkApplication = defineSpec({
  name: 'check-application',
  payload: z.object({ check_id: z.uuid() }),
  // The page says why there is no report, and has a button.
  options: { ...NOT_RETRIED, concurrency: 5 },
  title: ({ check_id }) => check_id,
});

/** Deletes rows that are too old: runs, pages, failures, events and others. */
export const prune = defineSpec({
  name: 'prune',
  payload: z.object({}),
  options: { ...NOT_RETRIED, concurrency: 1 },
  title: () => 'prune',
  scheduler: () => 'prune',
});

/** Games of one `fetch-pictures` job: more than any page shows. */
export const PICTURED_GAMES_MAX = 200;

/** The pictures of games that an operator is about to see. */
export const fetchPictures = defineSpec({
  name: 'fetch-pictures',
  payload: z.object({
    game_ids: z.array(z.uuid()).min(1).max(PICTURED_GAMES_MAX),
    icons_only: z.boolean(),
  }),
  // Failed requests are results. A job fails when the database does.
  options: { attempts: 3, backoffMs: 2_000, concurrency: 16 },
  title: ({ game_ids }) => (game_ids.length === 1 ? `game ${game_ids[0]}` : `${game_ids.length} games`),
});

/** The pictures of decided games that are due for a check. */
export const recheckPictures = defineSpec({
  name: 'recheck-pictures',
  payload: z.object({}),
  options: { ...NOT_RETRIED, concurrency: 1 },
  title: () => 'recheck pictures',
});

/** Games of which only the addresses of pictures may have changed. */
export const carryOverDecisions = defineSpec({
  name: 'carry-over-decisions',
  payload: z.object({}),
  options: { ...NOT_RETRIED, concurrency: 1 },
  title: () => 'carry over decisions',
});

/** The pictures of these games (at most those of one decision), of all games of an application, or of the whole store. */
export const tidyPictureStore = defineSpec({
  name: 'tidy-picture-store',
  payload: z.object({
    game_ids: z.array(z.uuid()).min(1).max(1_000).optional(),
    application_id: application_id.optional(),
  }),
  // A job for the whole store leaves room for others.
  options: { ...NOT_RETRIED, concurrency: 2 },
  title: ({ game_ids, application_id: of = 'the whole store' }) =>
    game_ids === undefined ? of : `${game_ids.length} games`,
});

/** Jobs of the workers. */
export const workerSpecs: readonly AnySpec[] = [
  tick,
  queryGameList,
  queryGameDetail,
  queryCpKyc,
  pullGameDetail,
  deliverEvent,
  checkApplication,
  prune,
];

/** Jobs of the media process, which has no key and no token. */
export const mediaSpecs: readonly AnySpec[] = [
  fetchPictures,
  recheckPictures,
  carryOverDecisions,
  tidyPictureStore,
];

export const jobSpecs: readonly AnySpec[] = [...workerSpecs, ...mediaSpecs];
