import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { DatabaseRole } from '#db/roles.ts';
import { deliverEvent } from '#src/ingest/specs.ts';
import { defineJob } from '#src/queue/job.ts';
import { startRunner } from '#src/queue/runner.ts';
import { localClock } from '#test/support/clock.ts';
import { startTestFleet } from '#test/support/fleet.ts';
import { openAs } from '#test/support/roles.ts';

/** SQLSTATE of a broken check. */
const CHECK_VIOLATION = '23514';

/** A fleet with its queues in Postgres, and one connection of a stolen login. */
const startStolen = async (role: DatabaseRole, stack: AsyncDisposableStack) => {
  const fleet = await startTestFleet('postgres');
  stack.defer(fleet.stop);
  const login = openAs(role, fleet.databaseUrl, 1);
  stack.defer(() => login.end());
  return { fleet, login };
};

test('Postgres keeps no setting of a queue that BullMQ cannot read as a number, or by which it takes no job: jobs are added and taken', async () => {
  await using stack = new AsyncDisposableStack();
  const { fleet, login } = await startStolen('media', stack);
  const { name } = deliverEvent;
  const forge = (field: string, value: string | null) =>
    login`insert into bullmq.meta (queue, field, value) values (${name}, ${field}, ${value})
      on conflict (queue, field) do update set value = excluded.value`;
  const fields = ['opts.maxLenEvents', 'concurrency', 'max', 'duration', 'stalled-check'];
  for (const field of fields) {
    for (const value of ['x', '', '1.5', '-1', '9'.repeat(field === 'stalled-check' ? 16 : 10)])
      await expect(forge(field, value), `${field} ${value}`).rejects.toMatchObject({ code: CHECK_VIOLATION });
    await forge(field, null);
  }
  // By each of these a queue would start no job, and be called running.
  for (const [field, value] of [
    ['concurrency', '0'],
    ['max', '0'],
    ['duration', '100000'],
  ] as const)
    await expect(forge(field, value), field).rejects.toMatchObject({ code: CHECK_VIOLATION });
  await forge('stalled-check', '1');
  expect(await fleet.backend.freeMisdatedLocks()).toBe(0);
  expect(await login`select from bullmq.meta where field = 'stalled-check'`).toEqual([]);
  await forge('stalled-check', '9'.repeat(15));
  const runs = Promise.withResolvers<unknown>();
  const job = defineJob(deliverEvent, async (payload) => {
    runs.resolve(payload);
    return {};
  });
  const silent = pino({ level: 'silent' });
  const runner = startRunner(fleet.backend, [job], undefined, localClock, silent, () => {});
  stack.defer(() => runner.stop(1_000));
  await fleet.producer.add(deliverEvent, { application_id: 'acme' });
  expect(await runs.promise).toEqual({ application_id: 'acme' });
});

const LARGE = "repeat('x', 2000000)";

test('Postgres keeps no row of a queue of more than a megabyte, also none that was compressed elsewhere', async () => {
  await using stack = new AsyncDisposableStack();
  const { fleet, login } = await startStolen('console', stack);
  const { id } = await fleet.producer.add(deliverEvent, { application_id: 'acme' });
  for (const column of ['data', 'opts', 'stacktrace', 'failed_reason'])
    await expect(
      login.unsafe(
        `update bullmq.job set ${column} = ${column === 'failed_reason' ? LARGE : `to_jsonb(${LARGE}::text)`} where id = $1`,
        [id ?? ''],
      ),
    ).rejects.toMatchObject({ code: CHECK_VIOLATION });
  // A value that another table keeps compressed takes little there.
  await login`
    insert into oidc_flows (flow_hash, site, state, nonce, code_verifier, expires_at, next)
    values ('\\x00', 'console', '', '', '', now(), repeat('x', 50000000))`;
  for (const statement of [
    ...['failed_reason', 'name', 'processed_by'].map(
      (column) => `update bullmq.job set ${column} = next from oidc_flows`,
    ),
    "insert into bullmq.scheduler (queue, scheduler_id, name) select 'tick', 'forged', next from oidc_flows",
    `insert into bullmq.scheduler (queue, scheduler_id, template_data) select 'tick', 'forged', to_jsonb(${LARGE})`,
    "insert into bullmq.scheduler (queue, scheduler_id, template_data) select 'tick', 'forged', to_jsonb(repeat('x', 30000))",
    // The ids of a queue are read together. An index keeps such ones, because they are compressed.
    "insert into bullmq.job (queue, id, seq, name, state, added_at_ms) values ('tick', repeat('x', 100000), 0, '', 'delayed', 0)",
    'insert into bullmq.job_log (queue, job_id, idx, row) select queue, id, 0, next from oidc_flows, bullmq.job',
    "insert into bullmq.meta (queue, field, value) select 'tick', 'forged', next from oidc_flows",
  ])
    await expect(login.unsafe(statement), statement).rejects.toMatchObject({ code: CHECK_VIOLATION });
});
