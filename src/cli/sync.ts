import { randomUUIDv7 } from 'node:crypto';
import type { Command } from 'commander';
import { listApplications } from '#db/queries/applications.ts';
import { openRun, type RunRow } from '#db/queries/runs.ts';
import { requireApplication, withFoundation } from '#src/cli/connect.ts';
import { act, defineCommand } from '#src/cli/frame.ts';
import { exitCodeOf, RUN_COLUMNS, runDocument } from '#src/cli/run-view.ts';
import { applicationGameId, applicationId, duration, each } from '#src/cli/values.ts';
import { awaitJobs } from '#src/cli/wait-jobs.ts';
import { awaitRuns, warnWithoutWorker } from '#src/cli/wait-runs.ts';
import { EXIT, UsageError } from '#src/errors.ts';
import { PULL_MAX, pullGameDetail } from '#src/ingest/specs.ts';
import { enqueueNextStep } from '#src/ingest/steps.ts';
import type { Foundation } from '#src/roles/foundation.ts';

const span = duration({ minMs: 1_000, maxMs: 24 * 60 * 60_000 });
const TIMEOUT_MS = 10 * 60_000;

type SyncOptions = {
  json?: boolean;
  all?: boolean;
  full?: boolean;
  wait?: boolean;
  timeout?: number;
  acceptWithdrawals?: boolean;
};

/** Open a run for each application and add its first step. */
export const startRuns = async (
  { sql, producer }: Foundation,
  application_ids: readonly string[],
  options: { full: boolean; acceptWithdrawals: boolean },
): Promise<{ opened: RunRow[]; alreadyRunning: RunRow[] }> => {
  const opened: RunRow[] = [];
  const alreadyRunning: RunRow[] = [];
  for (const application_id of application_ids) {
    const result = await openRun(sql, {
      run_id: randomUUIDv7(),
      application_id,
      trigger: 'manual',
      full: options.full,
      accept_withdrawals: options.acceptWithdrawals,
    });
    if (!result.opened) {
      alreadyRunning.push(result.run);
      continue;
    }
    await enqueueNextStep(producer, result.run, false);
    opened.push(result.run);
  }
  return { opened, alreadyRunning };
};

const chooseApplications = async (
  foundation: Foundation,
  given: string[],
  all: boolean,
): Promise<string[]> => {
  if (all === given.length > 0)
    throw new UsageError('Name the applications to sync, or give --all: npx catalogue sync acme');
  if (!all) {
    for (const id of given) await requireApplication(foundation.sql, id);
    return [...new Set(given)];
  }
  const active = (await listApplications(foundation.sql)).filter(({ status }) => status === 'active');
  if (active.length === 0)
    throw new UsageError('No active application is registered: npx catalogue app add --help');
  return active.map(({ application_id }) => application_id);
};

/** `catalogue sync` and `catalogue pull` */
export const register = (program: Command): void => {
  const sync = defineCommand(program, 'sync', {
    summary: "pull applications' games now",
    details:
      'One run an application at a time: one that is open already is left alone (exit 4).\nWith --wait: exit 0 when every run succeeded, 3 when one was partial or suspect, 1 when one failed.',
    examples: [
      'sync acme',
      'sync acme --wait',
      'sync --all --wait --json',
      'sync acme --full',
      'sync acme --accept-withdrawals --wait',
    ],
  })
    .argument('[application_id...]', 'the applications', each(applicationId))
    .option('--all', 'every active application')
    .option('--full', 'ask for every detail, changed or not')
    .option('--wait', 'wait for the runs to end, with progress on a terminal')
    .option('--timeout <span>', 'give up waiting after this long (default 10m)', span)
    .option('--accept-withdrawals', 'let the run withdraw more than half of the games');
  act<[string[]], SyncOptions>(sync, (context, options, given) =>
    withFoundation(context, async (foundation) => {
      const ids = await chooseApplications(foundation, given, options.all === true);
      const { opened, alreadyRunning } = await startRuns(foundation, ids, {
        full: options.full === true,
        acceptWithdrawals: options.acceptWithdrawals === true,
      });
      for (const run of alreadyRunning) {
        context.out.error(`${run.application_id} is being synced already, by run ${run.run_id}.`);
      }
      const running = alreadyRunning.map(({ application_id, run_id }) => ({ application_id, run_id }));
      const rest = running.length > 0 ? { already_running: running } : {};
      if (options.wait !== true) {
        await warnWithoutWorker(foundation.sql, context.out);
        context.out.document({ runs: opened.map(runDocument), ...rest });
        for (const run of opened) context.out.line(`${run.application_id}  run ${run.run_id}`);
        return running.length > 0 ? EXIT.alreadyRunning : EXIT.done;
      }
      const ended = await awaitRuns(foundation.sql, opened, {
        timeoutMs: options.timeout ?? TIMEOUT_MS,
        out: context.out,
      });
      context.out.document({ runs: ended.map(runDocument), ...rest });
      if (ended.length > 0) context.out.table(ended, RUN_COLUMNS);
      for (const run of ended)
        if (run.reason !== null) context.out.note(`${run.application_id}: ${run.reason}`);
      return exitCodeOf(ended, running.length > 0);
    }),
  );

  const pull = defineCommand(program, 'pull', {
    summary: 'pull the details of single games now',
    examples: ['pull acme g-1001', 'pull acme g-1001 g-1002 --wait'],
  })
    .argument('<application_id>', 'the application', applicationId)
    .argument('<application_game_id...>', "the games, by the application's own ids", each(applicationGameId))
    .option('--wait', 'wait for the answer');
  act<[string, string[]], { json?: boolean; wait?: boolean }>(
    pull,
    (context, options, application_id, given) =>
      withFoundation(context, async (foundation) => {
        await requireApplication(foundation.sql, application_id);
        return pullGames(foundation, context.out, application_id, given, options.wait === true);
      }),
  );
};

/**
 * Add pull jobs for these games, a hundred a job, and say or await what becomes of them. Each job paces its own
 * calls alone, so they run in turn: the application gets no more than it allows (design, section 4, step 4).
 */
export const pullGames = async (
  foundation: Foundation,
  out: Parameters<typeof warnWithoutWorker>[1],
  application_id: string,
  application_game_ids: readonly string[],
  wait: boolean,
) => {
  const ids = [...new Set(application_game_ids)];
  const payloads = [];
  for (let start = 0; start < ids.length; start += PULL_MAX)
    payloads.push({ application_id, application_game_ids: ids.slice(start, start + PULL_MAX) });
  const added = await foundation.producer.addInTurn(pullGameDetail, payloads);
  if (wait) return awaitJobs(foundation, pullGameDetail, added, out);
  await warnWithoutWorker(foundation.sql, out);
  out.document({ application_id, games: ids.length, jobs: added.map((job) => job.id) });
  out.line(`Asked for ${ids.length} ${ids.length === 1 ? 'game' : 'games'} of ${application_id}.`);
  return EXIT.done;
};
