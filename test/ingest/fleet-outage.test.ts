import { randomUUIDv7 } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { listApplications, setApplicationStatus } from '#db/queries/applications.ts';
import { listAudit } from '#db/queries/audit.ts';
import { readReach } from '#db/queries/backoff.ts';
import { findOpenRun, findRun, type RunRow } from '#db/queries/runs.ts';
import type { RunFault } from '#src/contract/words.ts';
import { failRun, finishRun } from '#src/ingest/finish-run.ts';
import { openRun } from '#src/ingest/steps.ts';
import { areMostUnreachable, isDue, MOST_UNREACHABLE } from '#src/rules/backoff.ts';
import { addApplication } from '#test/support/factories.ts';
import { runEndings } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const HOUR_MS = 60 * 60_000;
const EVERY_MS = HOUR_MS / 4;
const NO_DNS = 'page 1: name_not_found';
const IDS = ['a', 'b', 'c', 'd', 'e', 'f'];

beforeEach(async () => {
  await database.sql`delete from applications`;
  for (const id of IDS) await addApplication(database.sql, id, { every_ms: EVERY_MS });
});

const application = async (id: string) => {
  const found = (await listApplications(database.sql)).find(({ application_id }) => application_id === id);
  if (found === undefined) throw new Error(`no application ${id}`);
  return found;
};

/** Moves the clock: everything that has happened is `ms` older. */
const advance = async (ms: number) => {
  const by = database.sql`${ms} * interval '1 millisecond'`;
  await database.sql`update sync_runs set started_at = started_at - ${by}, finished_at = finished_at - ${by}`;
  await database.sql`
    update applications set failing_since = failing_since - ${by}, next_attempt_at = next_attempt_at - ${by}`;
};

/** What a tick does: a run that fails with the reason or, without one, comes through. Undefined while it backs off. */
const tick = async (
  application_id: string,
  reason?: string,
  fault: RunFault = 'unreachable',
): Promise<RunRow | undefined> => {
  const row = await application(application_id);
  if (row.status !== 'active' || !isDue(row, row.every_ms, Date.now())) return undefined;
  return runOnce(application_id, reason, fault);
};

/** A run that fails with the reason or, without one, comes through. */
const runOnce = async (
  application_id: string,
  reason?: string,
  fault: RunFault = 'unreachable',
  trigger: 'schedule' | 'manual' = 'schedule',
): Promise<RunRow | undefined> => {
  const options = { trigger, full: false, accept_withdrawals: false } as const;
  await openRun(database.sql, { run_id: randomUUIDv7(), application_id, ...options });
  const run = (await findOpenRun(database.sql, application_id)) as RunRow;
  if (reason !== undefined) return failRun(runEndings(database.sql), run, reason, fault);
  await database.sql`update sync_runs set listing_end = 'complete', total_first = 0, total_last = 0 where run_id = ${run.run_id}`;
  return finishRun(runEndings(database.sql), run);
};

it('eight hours of failing DNS pause no application and delay none by more than one interval', async () => {
  for (const id of IDS) await tick(id);
  for (let elapsed = 0; elapsed < 8 * HOUR_MS; elapsed += EVERY_MS) {
    await advance(EVERY_MS);
    for (const id of IDS) await tick(id, NO_DNS);
  }
  const last = await tick('a', NO_DNS);
  expect((await findRun(database.sql, last?.run_id ?? ''))?.reason).toBe(`${NO_DNS}; ${MOST_UNREACHABLE}`);
  expect(areMostUnreachable(await readReach(database.sql))).toBe(true);

  await advance(EVERY_MS);
  for (const id of IDS) {
    expect(await application(id)).toMatchObject({ status: 'active', pause_reason: null });
    expect(await tick(id)).toMatchObject({ outcome: 'succeeded' });
  }
  expect(areMostUnreachable(await readReach(database.sql))).toBe(false);
});

it('one application that fails among healthy ones is delayed, and paused after days', async () => {
  for (let day = 0; (await application('a')).status === 'active' && day < 20; day += 1) {
    for (const id of IDS.slice(1)) await tick(id);
    await tick('a', NO_DNS);
    await advance(24 * HOUR_MS);
  }
  const { status, failed_runs, pause_reason } = await application('a');
  expect({ status, failed_runs }).toEqual({ status: 'paused', failed_runs: 10 });
  expect(pause_reason).toContain(`the last with: ${NO_DNS}`);
  const entries = () => listAudit(database.sql, { subject: 'application:a', limit: 9 });
  const byWorker = { actor: 'worker', actor_kind: 'system' };
  expect(await entries()).toMatchObject([{ ...byWorker, action: 'application.pause', reason: pause_reason }]);

  // A run that an operator starts, and that succeeds, ends the pause.
  expect(await runOnce('a', undefined, 'none', 'manual')).toMatchObject({ outcome: 'succeeded' });
  expect(await application('a')).toMatchObject({ status: 'active', failed_runs: 0, pause_reason: null });
  const [resumed, ...before] = await entries();
  expect(resumed).toMatchObject({ ...byWorker, action: 'application.resume', reason: 'a run succeeded' });
  expect(before).toHaveLength(1);
  expect(await tick('a')).toMatchObject({ outcome: 'succeeded' });
  expect(await entries()).toHaveLength(2);
});

it('an application that a worker could open no connection to is not delayed, and the fleet is known to be cut off', async () => {
  for (const id of IDS) await tick(id, 'no_socket', 'worker');
  expect(await application('a')).toMatchObject({ failed_runs: 0, next_attempt_at: null });
  expect(areMostUnreachable(await readReach(database.sql))).toBe(true);
});

it('an application that an operator has paused is not paused again, and no success resumes it', async () => {
  const { sql } = database;
  await setApplicationStatus(sql, 'b', 'paused');
  await sql`
    update applications set failed_runs = 9, failing_since = now() - interval '4 days' where application_id = 'b'`;
  await runOnce('b', NO_DNS, 'application');
  expect(await application('b')).toMatchObject({ status: 'paused', failed_runs: 10, pause_reason: null });
  await runOnce('b');
  expect(await application('b')).toMatchObject({ status: 'paused', failed_runs: 0, pause_reason: null });
  expect(await listAudit(sql, { subject: 'application:b', limit: 9 })).toEqual([]);
});

it.each([
  ['most of which answer', 'page 1: http_status HTTP 500'],
  ['most of which send invalid pages', 'page 1: invalid_data (total: invalid_type)'],
  ['whose own messages speak of timeouts', 'page 1: ret_code 1 "(timeout 3)"'],
])('applications that fail, %s, back off each for itself', async (_, reason) => {
  for (const id of IDS) expect((await tick(id, reason, 'application'))?.reason).toBe(reason);
  for (const id of IDS) expect(await application(id)).toMatchObject({ failed_runs: 1 });
  expect(await readReach(database.sql)).toEqual({ applications: IDS.length, unreachable: 0 });
});

it('four applications are too few to tell the network of the fleet from their own', async () => {
  for (const id of IDS.slice(4)) await setApplicationStatus(database.sql, id, 'paused');
  for (const id of IDS) await tick(id, NO_DNS);
  for (const id of IDS.slice(0, 4)) expect(await application(id)).toMatchObject({ failed_runs: 1 });
});
