import { CLOCK_FAULTS } from '#test/fleet/faults/clocks.ts';
import { CLUSTER_FAULTS } from '#test/fleet/faults/cluster.ts';
import type { Fault } from '#test/fleet/faults/fault.ts';
import { LATENCY_FAULTS } from '#test/fleet/faults/latency.ts';
import { LOST_JOB_FAULTS } from '#test/fleet/faults/lost-jobs.ts';
import { OUTAGE_FAULTS } from '#test/fleet/faults/outages.ts';
import { POSTGRES_FAULTS } from '#test/fleet/faults/postgres.ts';
import { PROCESS_FAULTS } from '#test/fleet/faults/processes.ts';
import { QUEUE_FAULTS } from '#test/fleet/faults/queue.ts';
import { REDIS_FAULTS } from '#test/fleet/faults/redis.ts';
import { SENTINEL_FAULTS } from '#test/fleet/faults/sentinel.ts';
import { SILENCE_FAULTS } from '#test/fleet/faults/silence.ts';
import type { World } from '#test/fleet/world.ts';

export type QueueKind = World['queue']['kind'];

const FAULTS = [
  ...PROCESS_FAULTS,
  ...REDIS_FAULTS,
  ...SILENCE_FAULTS,
  ...CLUSTER_FAULTS,
  ...SENTINEL_FAULTS,
  ...POSTGRES_FAULTS,
  ...LATENCY_FAULTS,
  ...QUEUE_FAULTS,
  ...LOST_JOB_FAULTS,
  ...CLOCK_FAULTS,
  ...OUTAGE_FAULTS,
];

/** All that can happen to a fleet whose queues live here. */
export const faultsOf = (queue: QueueKind): Fault[] =>
  FAULTS.filter(({ on }) => on === undefined || on === queue).map((fault) => ({
    ...fault,
    world: { ...fault.world, queue },
  }));
