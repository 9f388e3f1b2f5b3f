import { type Fault, twoWorkers } from '#test/fleet/faults/fault.ts';
import type { World } from '#test/fleet/world.ts';
import { QUEUE_PREFIX } from '#test/fleet/world-queue.ts';
import { until } from '#test/support/until.ts';

const IN_FAILOVERS = {
  /** Each job of a run may be repeated: a failover loses the writes of the last moment. */
  mostCalls: 3,
  on: 'redis',
  /** Calls take so long that runs go on during a failover. */
  world: { redisForm: 'cluster', latencyMs: 200 },
} as const;

const masterOfQueues = ({ cluster }: World) => cluster.masterOf(QUEUE_PREFIX);

/** Waits until another node serves the queues. */
const failedOver = async ({ cluster }: World, before: { port: number }): Promise<void> => {
  await until('a replica has taken over', async () => {
    const master = await cluster.masterOf(QUEUE_PREFIX).catch(() => before);
    return master.port !== before.port;
  });
};

/** What becomes of the nodes of a Redis Cluster while runs go on. No worker ends. */
export const CLUSTER_FAULTS: readonly Fault[] = [
  {
    name: 'a cluster fails over: SIGKILL of the master of the queues',
    ...IN_FAILOVERS,
    inject: async (world) => {
      await twoWorkers(world);
      const master = await masterOfQueues(world);
      await master.end('SIGKILL');
      await failedOver(world, master);
    },
  },
  {
    name: 'a cluster fails over twice, and back to its first master',
    ...IN_FAILOVERS,
    inject: async (world) => {
      await twoWorkers(world);
      const first = await masterOfQueues(world);
      await first.end('SIGKILL');
      await failedOver(world, first);
      await first.start();
      const second = await masterOfQueues(world);
      await until('the first one follows', async () => {
        const info = await world.cluster.cli(first, 'info', 'replication').catch(() => '');
        return info.includes('role:slave') && info.includes('master_link_status:up');
      });
      await second.end('SIGKILL');
      await failedOver(world, second);
    },
  },
  {
    name: 'a node of a cluster hangs: SIGSTOP of the master of the queues',
    ...IN_FAILOVERS,
    inject: async (world) => {
      await twoWorkers(world);
      const master = await masterOfQueues(world);
      master.signal('SIGSTOP');
      await failedOver(world, master);
      await world.quiet();
      master.signal('SIGCONT');
    },
  },
  {
    name: 'the slot of the queues moves to another master of the cluster, and back',
    ...IN_FAILOVERS,
    inject: async (world) => {
      await twoWorkers(world);
      for (let move = 0; move < 2; move += 1) await world.cluster.moveSlot(QUEUE_PREFIX);
    },
  },
  {
    name: 'a cluster without the slot of the queues: its master ends and has no replica, and starts again',
    ...IN_FAILOVERS,
    inject: async (world) => {
      await twoWorkers(world);
      const master = await masterOfQueues(world);
      for (const node of world.cluster.nodes) {
        const info = await world.cluster.cli(node, 'info', 'replication');
        if (info.includes(`master_port:${master.port}`)) await node.end('SIGKILL');
      }
      await master.end();
      await until('the cluster is down', async () => {
        const [one] = world.cluster.nodes.filter((node) => node !== master);
        const info = one === undefined ? '' : await world.cluster.cli(one, 'cluster', 'info').catch(() => '');
        return info.includes('cluster_state:fail') || info === '';
      });
      await master.start();
    },
  },
];
