import { expect, it } from 'vitest';
import { queryGameList } from '#src/ingest/specs.ts';
import { stepId } from '#src/ingest/steps.ts';
import { useRuns } from '#test/cli/runs-world.ts';
import { documentOf, runCli, startCli } from '#test/support/cli.ts';
import { until } from '#test/support/until.ts';

const { world, openRun } = useRuns();

/** Attaches to the open run, which goes on then. */
const attach = async (option: string) => {
  const second = startCli(['sync', 'gated', '--wait', option], world.env);
  await until('it waits', () => second.output().stderr.includes('waiting for it'));
  world.gate.release();
  return second.done;
};

it('a second sync --wait attaches to the open run and ends with its outcome', async () => {
  const run_id = await openRun();
  const result = await attach('--json');
  expect(result.exit).toBe(0);
  expect(documentOf(result).runs).toMatchObject([{ run_id, outcome: 'succeeded' }]);
});

it('a second sync --wait with other options says that they had no effect, and exits with 4', async () => {
  await openRun();
  const { exit, stderr } = await attach('--full');
  expect(exit).toBe(4);
  expect(stderr).toContain('without the options given here');
});

it('run list says how far an open run has come, and when', async () => {
  const run_id = await openRun();
  const { stdout } = await runCli(['run', 'list', '--outcome', 'open'], world.env);
  expect(stdout).toMatch(
    new RegExp(`page 1 is next, the last progress was at \\d{4}-\\d\\d-\\d\\d [\\d:]+ UTC +${run_id}`),
  );
  world.gate.release();
  await world.fleet.ended(run_id);
});

it('run cancel ends an open run, under any cut of its id, and its jobs leave the queue', async () => {
  const run_id = await openRun();
  const cancelled = await runCli(['run', 'cancel', run_id.slice(0, 20), '--by', 'kim', '--json'], world.env);
  expect(cancelled.exit).toBe(0);
  expect(documentOf(cancelled)).toMatchObject({ run_id, reason: 'cancelled by an operator' });
  world.gate.release();
  const job = await world.fleet.jobEnded(queryGameList, stepId({ run_id, fence: 1 }, 1));
  expect(job.returnvalue).toMatchObject({ skipped: 'stale fence' });
  const again = await runCli(['run', 'cancel', run_id], world.env);
  expect(again).toMatchObject({ exit: 2, stderr: expect.stringContaining('already ended: abandoned') });
  const [open] = await world.fleet.sql`select from sync_runs where finished_at is null`;
  expect(open).toBeUndefined();
});

it('sync --wait names paused queues', async () => {
  expect((await runCli(['queue', 'pause', 'query-game-list'], world.env)).exit).toBe(0);
  const waiting = startCli(['sync', 'acme', '--wait'], world.env);
  await until('it says what is paused', () =>
    waiting.output().stderr.includes('Paused queues start no jobs: query-game-list.'),
  );
  expect((await runCli(['queue', 'resume'], world.env)).exit).toBe(0);
  expect((await waiting.done).exit).toBe(0);
});
