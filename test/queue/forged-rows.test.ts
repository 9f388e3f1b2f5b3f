import { expect, test } from 'vitest';
import { deliverEvent } from '#src/ingest/specs.ts';
import { startTestFleet } from '#test/support/fleet.ts';
import { openAs } from '#test/support/roles.ts';

/** SQLSTATE of a broken check. */
const CHECK_VIOLATION = '23514';

test('a time that is no number, in a row of a queue in Postgres, stops no chore of the workers', async () => {
  const fleet = await startTestFleet('postgres');
  await using stack = new AsyncDisposableStack();
  stack.defer(fleet.stop);
  const login = openAs('media', fleet.databaseUrl, 1);
  stack.defer(() => login.end());
  for (const value of ['x', '', '9'.repeat(30), null, String(Date.now())])
    await login`
      insert into bullmq.meta (queue, field, value) values (${`${value}`.slice(0, 20)}, 'stalled-check', ${value})`;
  expect(await fleet.backend.freeMisdatedLocks()).toBe(0);
  expect(await login`select from bullmq.meta where field = 'stalled-check'`).toHaveLength(1);
});

const LARGE = "repeat('x', 2000000)";

test('Postgres keeps no row of a queue of more than a megabyte, also none that was compressed elsewhere', async () => {
  const fleet = await startTestFleet('postgres');
  await using stack = new AsyncDisposableStack();
  stack.defer(fleet.stop);
  const login = openAs('console', fleet.databaseUrl, 1);
  stack.defer(() => login.end());
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
