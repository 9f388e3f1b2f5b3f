import { type Fault, pause, twoWorkers } from '#test/fleet/faults/fault.ts';

const SILENCES = [
  ['30 seconds', 30_000],
  ['3 minutes', 180_000],
  ['10 minutes', 600_000],
] as const;
/** Many worlds wake at once: locks expire again on a busy machine. */
const IN_SILENCE = { mostCalls: 6, world: { patient: true }, on: 'redis' } as const;

/** Redis that is silent for a while: `npm run soak -- --only silent --at-once 20` runs many worlds through one silence. */
export const SILENCE_FAULTS: readonly Fault[] = SILENCES.flatMap(([duration, ms]): Fault[] => [
  {
    name: `Redis silent for ${duration}: its process is stopped`,
    ...IN_SILENCE,
    inject: async (world) => {
      await twoWorkers(world);
      world.redis.server.signal('SIGSTOP');
      await pause(ms);
      world.redis.server.signal('SIGCONT');
    },
  },
  {
    name: `Redis silent for ${duration}: the network drops everything, then the connections`,
    ...IN_SILENCE,
    inject: async (world) => {
      await twoWorkers(world);
      world.redis.network.pause();
      await pause(ms);
      world.redis.network.resume();
      world.redis.network.cut();
    },
  },
]);
