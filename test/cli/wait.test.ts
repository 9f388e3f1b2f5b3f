import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { requestKycPull } from '#db/queries/kyc.ts';
import { noteOpenRun } from '#db/queries/run-steps.ts';
import { closeRun } from '#db/queries/runs.ts';
import { recordHeartbeat } from '#db/queries/workers.ts';
import { waitForRuns } from '#src/cli/commands/runs.ts';
import type { Output } from '#src/cli/kit/output.ts';
import { waitForKyc, waitForResult } from '#src/cli/kit/wait.ts';
import type { Foundation } from '#src/processes/foundation.ts';
import { anOpenRun } from '#test/support/factories.ts';
import { startTestFleet } from '#test/support/fleet.ts';
import { removeApplication } from '#test/support/operate.ts';
import { until } from '#test/support/until.ts';

/** A fleet with a live worker, and what a command that waits writes to stderr. */
const aWaitingCommand = async () => {
  const fleet = await startTestFleet('postgres');
  onTestFinished(fleet.stop);
  await recordHeartbeat(fleet.sql, { worker_id: randomUUID(), host: 'host', pid: 1, queue: 'Postgres' });
  const notes: string[] = [];
  const note = (line: string) => void notes.push(line);
  const out = { note, stdio: { stderr: { isTTY: false } } } as unknown as Output;
  return { fleet, notes, out };
};

test('a command that waits says so when the last worker stops', async () => {
  const { fleet, notes, out } = await aWaitingCommand();
  const { sql } = fleet;
  let polls = 0;
  const poll = async () => {
    polls += 1;
    if (polls === 2) await sql`update workers set seen_at = now() - interval '1 minute'`;
    return notes.length > 0 ? 'noted' : undefined;
  };
  await waitForResult(fleet as unknown as Foundation, out, poll, { timeoutMs: 25_000, hint: '' });
  expect(notes).toEqual([expect.stringMatching(/^No worker takes jobs: /)]);
});

test('a command that waits for a worker that starts says only that it waits', async () => {
  const { fleet, notes, out } = await aWaitingCommand();
  const { sql } = fleet;
  await sql`delete from workers`;
  const poll = async () => {
    await recordHeartbeat(sql, { worker_id: randomUUID(), host: 'host', pid: 1, queue: 'Postgres' });
    return 'done';
  };
  await waitForResult(fleet as unknown as Foundation, out, poll, { timeoutMs: 25_000, hint: '' });
  expect(notes).toEqual(['No worker takes jobs yet: waiting 15 s for one.']);
});

test('a command waits no longer than its limit, also while a read takes longer', async () => {
  const { fleet, out } = await aWaitingCommand();
  const [limit, read] = [1_000, 8_000];
  const poll = async () => void (await fleet.sql`select pg_sleep(${read / 1_000})`);
  const started = performance.now();
  await expect(
    waitForResult(fleet as unknown as Foundation, out, poll, { timeoutMs: limit, hint: 'It goes on.' }),
  ).rejects.toThrow('No result in time. It goes on.');
  expect(performance.now() - started).toBeLessThan(read);
});

test('sync --wait says once what an open run waits for', async () => {
  const { fleet, notes, out } = await aWaitingCommand();
  const { sql } = fleet;
  await fleet.addApplication('acme', 1);
  const run = await anOpenRun(sql, 'acme');
  await noteOpenRun(sql, run, 'page 1: called again at noon');
  const ended = waitForRuns(fleet as unknown as Foundation, out, [run], 25_000);
  await until('it is said', () => notes.length > 0);
  await closeRun(sql, run, { outcome: 'failed', reason: 'down' });
  expect(await ended).toMatchObject([{ outcome: 'failed' }]);
  expect(notes).toEqual(['acme: page 1: called again at noon']);
});

test('sync --wait says which job of an open run fails, and why: the run itself cannot', async () => {
  const { fleet, notes, out } = await aWaitingCommand();
  const { sql } = fleet;
  await fleet.addApplication('acme', 1);
  await sql`revoke update on sync_runs from catalogue_worker`;
  await fleet.startWorker();
  const run = await fleet.startRun('acme');
  const ended = waitForRuns(fleet as unknown as Foundation, out, [run], 60_000);
  // On a slow machine, a note that no worker lives may come before it.
  await Promise.race([ended, until('it is said', () => notes.some((line) => line.startsWith('acme: ')))]);
  await closeRun(sql, run, { outcome: 'failed', reason: 'down' });
  await ended;
  expect(notes.filter((line) => line.startsWith('acme: '))).toEqual([
    'acme: an attempt of its job query-game-list failed (Postgres denies the role of the process a right (42501)): see npx catalogue queue status, and the log of the workers.',
  ]);
});

test('kyc pull --wait ends when the application is removed', async () => {
  const { fleet, out } = await aWaitingCommand();
  const { sql } = fleet;
  await fleet.addApplication('acme', 1);
  await requestKycPull(sql, 'acme');
  const waiting = waitForKyc(fleet as unknown as Foundation, out, ['acme']);
  await Promise.all([
    expect(waiting).rejects.toThrow('acme was removed: no worker pulls its record.'),
    removeApplication(sql, 'acme'),
  ]);
});
