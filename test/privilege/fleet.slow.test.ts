import { describe, inject } from 'vitest';
import { testFleetOfRoles } from '#test/privilege/fleet-of-roles.ts';

// Each process is started, as in test/privilege/fleet, with another user of Redis.
describe.skipIf(inject('redisUrl') === null)(
  'A fleet whose processes have roles and secrets of their own, with the queues in Redis',
  () => testFleetOfRoles(true),
);
