import { afterAll, beforeAll, describe, test } from 'vitest';
import { CLUSTER_FAULTS } from '#test/fleet/faults/cluster.ts';
import { sharedGround, withoutRedis } from '#test/fleet/ground.ts';
import { landOnce } from '#test/fleet/land-once.ts';
import { survive } from '#test/fleet/one-fault.ts';

// test/fleet/cluster-faults.slow.test.ts has the others.
const [FAILOVER] = CLUSTER_FAULTS;

describe.skipIf(withoutRedis('a failover of a cluster'))(
  'a fleet whose queues are in a Redis Cluster',
  () => {
    let landed: Awaited<ReturnType<typeof landOnce>>;
    beforeAll(async () => {
      landed = await landOnce(sharedGround());
    });
    afterAll(() => landed?.[Symbol.asyncDispose]());

    test('ends with the rows of an undisturbed run after a failover, and no worker ends', async () => {
      if (FAILOVER === undefined) throw new Error('there is a failover among the faults');
      await survive(FAILOVER, landed.ground, landed.expected);
    });
  },
);
