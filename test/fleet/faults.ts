import { CLOCK_FAULTS } from './faults/clocks.ts';
import type { Fault } from './faults/fault.ts';
import { POSTGRES_FAULTS } from './faults/postgres.ts';
import { PROCESS_FAULTS } from './faults/processes.ts';
import { QUEUE_FAULTS } from './faults/queue.ts';
import { REDIS_FAULTS } from './faults/redis.ts';
import type { World } from './world.ts';

export type QueueKind = World['queue']['kind'];

const FAULTS = [...PROCESS_FAULTS, ...REDIS_FAULTS, ...POSTGRES_FAULTS, ...QUEUE_FAULTS, ...CLOCK_FAULTS];

/** All that can happen to a fleet whose queues live here. */
export const faultsOf = (queue: QueueKind): Fault[] =>
  FAULTS.filter(({ on }) => on === undefined || on === queue).map((fault) => ({
    ...fault,
    world: { ...fault.world, queue },
  }));
