import { afterAll, beforeAll, describe, test } from 'vitest';
import { CLUSTER_FAULTS } from '#test/fleet/faults/cluster.ts';
import { SENTINEL_FAULTS } from '#test/fleet/faults/sentinel.ts';
import { sharedGround, withoutRedis } from '#test/fleet/ground.ts';
import { landOnce } from '#test/fleet/land-once.ts';
import { survive } from '#test/fleet/one-fault.ts';

describe.skipIf(withoutRedis('faults of a cluster and of Sentinel'))(
  'a fleet in a Redis Cluster, or with a Sentinel, ends with the rows of an undisturbed run after',
  () => {
    let landed: Awaited<ReturnType<typeof landOnce>>;
    beforeAll(async () => {
      landed = await landOnce(sharedGround());
    });
    afterAll(() => landed?.[Symbol.asyncDispose]());

    test.for([...CLUSTER_FAULTS, ...SENTINEL_FAULTS])(
      '$name',
      async (fault) => void (await survive(fault, landed.ground, landed.expected)),
    );
  },
);
