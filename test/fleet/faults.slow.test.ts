import { afterAll, beforeAll, describe, test } from 'vitest';
import { faultsOf, type QueueKind } from '#test/fleet/faults.ts';
import { sharedGround, withoutRedis } from '#test/fleet/ground.ts';
import { landOnce } from '#test/fleet/land-once.ts';
import { survive } from '#test/fleet/one-fault.ts';

/** One of each kind; `npm run soak` injects all of them, again and again. */
const REPRESENTATIVE: Record<QueueKind, readonly string[]> = {
  redis: [
    'SIGKILL of a worker during detail calls',
    'SIGKILL after the commit of details, before their acknowledgement',
    'SIGTERM with calls in flight that do not end',
    'Redis out of memory',
    'the queue flushed',
    'COMMIT sent and its reply lost',
    'Postgres unreachable for 22 seconds',
  ],
  postgres: [
    'SIGKILL after the commit of details, before their acknowledgement',
    'connections cut in the middle of transactions',
    "connections cut as each part of the queue asks for BullMQ's schema, once in its life",
    'SIGKILL during detail calls of a worker whose clock was a day ahead',
  ],
};

describe('a fleet ends with the rows of an undisturbed run after', () => {
  let landed: Awaited<ReturnType<typeof landOnce>>;
  beforeAll(async () => {
    landed = await landOnce(sharedGround());
  });
  afterAll(() => landed?.[Symbol.asyncDispose]());

  const on = (queue: QueueKind) =>
    test.for(faultsOf(queue).filter(({ name }) => REPRESENTATIVE[queue].includes(name)))(
      '$name',
      async (fault) => void (await survive(fault, landed.ground, landed.expected)),
    );
  describe.skipIf(withoutRedis('faults'))('with the queue in Redis', () => on('redis'));
  describe('with the queue in Postgres', () => on('postgres'));
});
