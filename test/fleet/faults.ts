import { CLOCK_FAULTS } from '#test/fleet/faults/clocks.ts';
import type { Fault } from '#test/fleet/faults/fault.ts';
import { POSTGRES_FAULTS } from '#test/fleet/faults/postgres.ts';
import { PROCESS_FAULTS } from '#test/fleet/faults/processes.ts';
import { QUEUE_FAULTS } from '#test/fleet/faults/queue.ts';
import { REDIS_FAULTS } from '#test/fleet/faults/redis.ts';
import type { World } from '#test/fleet/world.ts';

export type QueueKind = World['queue']['kind'];

const FAULTS = [...PROCESS_FAULTS, ...REDIS_FAULTS, ...POSTGRES_FAULTS, ...QUEUE_FAULTS, ...CLOCK_FAULTS];

/** All that can happen to a fleet whose queues live here. */
export const faultsOf = (queue: QueueKind): Fault[] =>
  FAULTS.filter(({ on }) => on === undefined || on === queue).map((fault) => ({
    ...fault,
    world: { ...fault.world, queue },
  }));
