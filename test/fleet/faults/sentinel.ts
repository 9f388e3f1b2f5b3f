import { type Fault, twoWorkers } from '#test/fleet/faults/fault.ts';
import { until } from '#test/support/until.ts';

const IN_FAILOVERS = {
  /** Each job of a run may be repeated: a failover loses the writes of the last moment. */
  mostCalls: 3,
  on: 'redis',
  /** Calls take so long that runs go on during a failover. */
  world: { redisForm: 'sentinel', latencyMs: 200 },
} as const;

/** What becomes of the master of a Sentinel while runs go on. No worker ends. */
export const SENTINEL_FAULTS: readonly Fault[] = [
  {
    name: 'Sentinel fails over: SIGKILL of the master, which starts again as a replica',
    ...IN_FAILOVERS,
    inject: async (world) => {
      await twoWorkers(world);
      const master = await world.sentinel.master();
      await master.end('SIGKILL');
      await world.sentinel.failedOver(master);
      await master.start();
    },
  },
  {
    name: 'Sentinel fails over: SIGSTOP of the master until every run has ended, then SIGCONT',
    ...IN_FAILOVERS,
    inject: async (world) => {
      await twoWorkers(world);
      const master = await world.sentinel.master();
      master.signal('SIGSTOP');
      await world.sentinel.failedOver(master);
      await world.quiet();
      master.signal('SIGCONT');
      await until('it is a replica', async () => (await world.sentinel.role(master)) === 'slave');
    },
  },
];
