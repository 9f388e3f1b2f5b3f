import { type Fault, twoWorkers } from '#test/fleet/faults/fault.ts';

const LATENCY_MS = 500;

/** Servers that answer late. */
export const LATENCY_FAULTS: readonly Fault[] = [
  {
    name: 'Redis answers in 500 ms',
    mostCalls: 3,
    world: { patient: true },
    on: 'redis',
    inject: async (world) => {
      await twoWorkers(world);
      world.redis.network.delayReplies(LATENCY_MS);
      await world.quiet();
    },
  },
  {
    name: 'Postgres answers in 500 ms',
    mostCalls: 3,
    world: { patient: true },
    inject: async (world) => {
      await twoWorkers(world);
      world.toPostgres.delayReplies(LATENCY_MS);
      await world.quiet();
    },
  },
  {
    name: 'Redis and Postgres answer in 500 ms from the start',
    mostCalls: 3,
    world: { patient: true },
    on: 'redis',
    inject: async (world) => {
      world.redis.network.delayReplies(LATENCY_MS);
      world.toPostgres.delayReplies(LATENCY_MS);
      await twoWorkers(world);
      await world.quiet();
    },
  },
];
