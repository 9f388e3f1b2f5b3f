import { Redis } from 'ioredis';
import { beforeEach, expect } from 'vitest';
import { reconcileSchedules } from '#src/ingest/schedules.ts';
import { tick } from '#src/ingest/specs.ts';
import { type BackendKind, useTestFleet } from '#test/support/fleet.ts';

const live = new AbortController().signal;

/** A fleet for the tests of one `describe`. Each test begins without applications, whatever the last one pulled, and with empty queues. */
export const useScheduledFleet = (kind: BackendKind) => {
  const fleet = useTestFleet(kind);
  beforeEach(async () => {
    await fleet.flushQueue();
    await fleet.sql`truncate applications cascade`;
  });
  return {
    get fleet() {
      return fleet;
    },
    /** One pass over all applications, in which nothing fails. @returns how many schedulers it set and removed */
    reconcile: async (producer = fleet.producer) => {
      const { next, failed, isComplete: _, ...counts } = await reconcileSchedules(fleet.sql, producer, live);
      expect(failed).toBe(0);
      expect(next).toEqual({ schedule: 'games', after: '' });
      return counts;
    },
    schedulers: async () => {
      const found = await fleet.producer.queue(tick).getJobSchedulers(0, -1, true);
      return found.map(({ key, every, offset, next }) => ({ key, every, offset, next }));
    },
    /** Sets a scheduler's next moment, as if no worker had run since. */
    setNext: async (id: string, next: number) => {
      if (fleet.redisUrl === undefined) {
        await fleet.sql`update bullmq.scheduler set next_run_ms = ${next} where scheduler_id = ${id}`;
        return;
      }
      const redis = new Redis(fleet.redisUrl);
      await redis.zadd(`${fleet.prefix}:tick:repeat`, next, id);
      redis.disconnect();
    },
  };
};
