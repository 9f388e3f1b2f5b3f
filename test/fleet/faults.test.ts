import { afterAll, beforeAll, describe, test } from 'vitest';
import { FAULTS } from './faults.ts';
import { sharedGround, withoutRedis } from './ground.ts';
import { survive } from './one-fault.ts';
import { landOnce } from './world.ts';

/** One of each kind; `npm run soak` injects all of them, again and again. */
const REPRESENTATIVE = [
  'SIGKILL of a worker during detail calls',
  'SIGKILL after the commit of details, before their acknowledgement',
  'SIGTERM with calls in flight that do not end',
  'Redis flushed',
  'COMMIT sent and its reply lost',
];

describe.skipIf(withoutRedis('faults'))('a fleet ends with the rows of an undisturbed run after', () => {
  let landed: Awaited<ReturnType<typeof landOnce>>;
  beforeAll(async () => {
    landed = await landOnce(sharedGround());
  });
  afterAll(() => landed?.[Symbol.asyncDispose]());

  test.for(FAULTS.filter(({ name }) => REPRESENTATIVE.includes(name)))('$name', async (fault) => {
    await survive(fault, landed.ground, landed.expected);
  });
});
