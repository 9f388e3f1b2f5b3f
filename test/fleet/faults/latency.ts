import { type Fault, twoWorkers } from '#test/fleet/faults/fault.ts';

const LATENCY_MS = 500;
/** Closer to production's: a lock outlives several slow answers. */
const timing = { lockMs: 10_000, idleMs: 10_000 };

/** Servers that answer late. */
export const LATENCY_FAULTS: readonly Fault[] = [
  {
    name: 'Redis answers in 500 ms',
    mostCalls: 3,
    on: 'redis',
    inject: async (world) => {
      await twoWorkers(world, { timing });
      world.redis.network.delayReplies(LATENCY_MS);
      await world.quiet();
    },
  },
  {
    name: 'Postgres answers in 500 ms',
    mostCalls: 3,
    inject: async (world) => {
      await twoWorkers(world, { timing });
      world.toPostgres.delayReplies(LATENCY_MS);
      await world.quiet();
    },
  },
  {
    name: 'Redis and Postgres answer in 500 ms from the start',
    mostCalls: 3,
    on: 'redis',
    inject: async (world) => {
      world.redis.network.delayReplies(LATENCY_MS);
      world.toPostgres.delayReplies(LATENCY_MS);
      await twoWorkers(world, { timing });
      await world.quiet();
    },
  },
];
