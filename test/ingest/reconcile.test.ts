import type { Queue } from 'bullmq';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LOCKS } from '#db/locks.ts';
import { findRun } from '#db/queries/runs.ts';
import { reconcile } from '#src/ingest/reconcile.ts';
import { prune, tick } from '#src/ingest/specs.ts';
import { repeatUntilAborted } from '#src/processes/repeat.ts';
import type { Producer } from '#src/queue/producer.ts';
import { addApplication, anOpenRun } from '#test/support/factories.ts';
import { onBothBackends, startTestFleet, type TestFleet } from '#test/support/fleet.ts';
import { until } from '#test/support/until.ts';

const silent = pino({ level: 'silent' });
const live = new AbortController().signal;

type SilentQueue = {
  producer: Producer;
  waitsFor: (commands: number) => Promise<unknown>;
  answer: () => void;
};

/** A producer whose queues answer only from `answer` on. */
const silence = (producer: Producer): SilentQueue => {
  const answered = Promise.withResolvers<void>();
  let commands = 0;
  const wrap = (queue: Queue): Queue =>
    new Proxy(queue, {
      get: (target, name) => {
        const member = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return async (...args: unknown[]) => {
          commands += 1;
          await answered.promise;
          return member.apply(target, args);
        };
      },
    });
  return {
    producer: { ...producer, queue: (job) => wrap(producer.queue(job)) },
    waitsFor: (count) => until(`${count} commands wait`, () => commands >= count),
    answer: () => answered.resolve(),
  };
};

onBothBackends('Reconcilers', (kind) => {
  describe('with a queue that does not respond', () => {
    let fleet: TestFleet;
    let queue: SilentQueue;
    beforeEach(async () => {
      fleet = await startTestFleet(kind);
      queue = silence(fleet.producer);
      await addApplication(fleet.sql, 'acme');
      await anOpenRun(fleet.sql, 'acme');
      await fleet.sql`update sync_runs set progress_at = now() - interval '1 minute'`;
    });
    afterEach(() => fleet.stop());

    const start = (options: Parameters<typeof reconcile>[2] = {}, signal = live, sql = fleet.sql) =>
      reconcile({ ...fleet, sql, producer: queue.producer, logger: silent }, signal, options).then(
        () => 'ended',
        (error: Error & { code?: string }) => error.code,
      );
    /** A process learns that its session has ended when its socket closes: after Postgres has released the lock. */
    const watchTransactions = () => {
      const ended = Promise.withResolvers<void>();
      const begin = (...args: Parameters<typeof fleet.sql.begin>) =>
        fleet.sql.begin(...args).finally(() => ended.resolve());
      const sql = new Proxy(fleet.sql, {
        get: (target, name) => (name === 'begin' ? begin : Reflect.get(target, name)),
      });
      return { sql, ended: ended.promise };
    };
    const expectNothingDone = async () => {
      expect(await fleet.producer.queue(tick).getJobSchedulersCount()).toBe(0);
      expect(await fleet.sql`select from sync_runs where fence > 1`).toHaveLength(0);
    };

    it('do nothing more after Postgres has ended the session that has the lock', async () => {
      const order: string[] = [];
      const transaction = watchTransactions();
      const ended = start({}, live, transaction.sql).then((how) => order.push(`pass: ${how}`));
      await queue.waitsFor(2);
      const sessions = await fleet.sql`
        select pg_terminate_backend(pid) from pg_locks
        where locktype = 'advisory' and objid = ${LOCKS.reconcile % 2 ** 32}::bigint::oid and database = (
          select oid from pg_database where datname = current_database())`;
      expect(sessions).toHaveLength(1);
      await until('another reconciler can have the lock', async () => {
        const [lock] = await fleet.sql<{ free: boolean }[]>`
          select pg_try_advisory_xact_lock(${LOCKS.reconcile}) as free`;
        return lock?.free === true;
      });
      await transaction.ended;
      order.push('the queue answers');
      queue.answer();
      await ended;
      // A process has one pass at a time: it ends with its last command, not with its lock.
      expect(order).toEqual(['the queue answers', 'pass: CONNECTION_CLOSED']);
      await expectNothingDone();
    });

    it('end when their process stops, and write nothing more', async () => {
      const shutdown = new AbortController();
      const ended = start({}, shutdown.signal);
      await queue.waitsFor(2);
      shutdown.abort();
      queue.answer();
      expect(await ended).toBe('ended');
      await expectNothingDone();
    });

    it('end at the deadline of a pass, and the next pass continues', async () => {
      queue.answer();
      expect(await start({ passMs: 0 })).toBe('ended');
      await expectNothingDone();
      expect(await start()).toBe('ended');
      expect(await fleet.producer.queue(tick).getJobSchedulersCount()).toBe(2);
      expect(await fleet.sql`select from sync_runs where fence > 1`).toHaveLength(1);
    });
  });

  it('do nothing while another worker has the lock', async () => {
    const fleet = await startTestFleet(kind);
    try {
      await addApplication(fleet.sql, 'acme');
      await fleet.sql.begin(async (other) => {
        await other`select pg_advisory_xact_lock(${LOCKS.reconcile})`;
        await reconcile({ ...fleet, logger: silent }, live);
      });
      expect(await fleet.producer.queue(tick).getJobSchedulersCount()).toBe(0);
    } finally {
      await fleet.stop();
    }
  });

  it('of many workers at once set each schedule once and recover a lost run once', async () => {
    const fleet = await startTestFleet(kind);
    try {
      await addApplication(fleet.sql, 'acme');
      // A run whose job was lost before it reached the queue.
      const { run_id } = await anOpenRun(fleet.sql, 'acme');
      await fleet.sql`update sync_runs set progress_at = now() - interval '1 minute'`;
      const surroundings = { ...fleet, logger: silent };
      await Promise.all(Array.from({ length: 4 }, () => reconcile(surroundings, live)));
      expect(await findRun(fleet.sql, run_id)).toMatchObject({ fence: 2, finished_at: null });
      const schedulers = await fleet.producer.queue(tick).getJobSchedulers(0, -1, true);
      expect(schedulers.map(({ key }) => key).sort()).toEqual(['games.acme', 'kyc.acme']);
      expect(await fleet.producer.queue(tick).getDelayedCount()).toBe(2);
      expect(await fleet.producer.queue(prune).getDelayedCount()).toBe(1);

      await fleet.startWorker();
      const ended = await fleet.ended(run_id);
      // Its address has no listener: the test checks the attempt alone.
      expect(ended).toMatchObject({ outcome: 'failed', fence: 2 });
    } finally {
      await fleet.stop();
    }
  });
});

it('goes on with a chore that failed, and ends when it is aborted', async () => {
  const aborter = new AbortController();
  let done = 0;
  const chore = repeatUntilAborted(1, aborter.signal, silent, 'chore', async () => {
    done += 1;
    if (done === 3) aborter.abort();
    throw new Error('not this time');
  });
  await chore.ended;
  expect(done).toBe(3);
});

it('ends a chore that waits for something that never comes, when it is aborted', async () => {
  const aborter = new AbortController();
  const { ended } = repeatUntilAborted(1, aborter.signal, silent, 'chore', () => new Promise(() => {}));
  aborter.abort();
  await ended;
});

it('says what a chore without success lacks, from a deadline on until it succeeds again', async () => {
  const aborter = new AbortController();
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
  let isWell = false;
  const work = async () => {
    if (!isWell) throw Object.assign(new Error('secret value'), { name: 'PostgresError', code: '25006' });
  };
  const chore = repeatUntilAborted(1, aborter.signal, logger, 'urgent jobs', work, { overdueMs: 300 });
  expect(chore.fault()).toBeUndefined();
  const fault = await until('it is overdue', chore.fault);
  expect(fault).toMatch(
    /^the chore "urgent jobs" has not succeeded for \d+ s: Postgres is read-only \(25006\)$/,
  );
  expect(lines).toMatchObject([{ chore: 'urgent jobs', error: 'Postgres is read-only (25006)' }]);
  isWell = true;
  await until('it is well', () => chore.fault() === undefined);
  aborter.abort();
  await chore.ended;
});

it('says that a chore does not end', async () => {
  const aborter = new AbortController();
  const work = () => new Promise<void>(() => {});
  const chore = repeatUntilAborted(1, aborter.signal, silent, 'reconcile', work, { overdueMs: 0 });
  expect(chore.fault()).toContain('it does not end');
  aborter.abort();
  await chore.ended;
});
