import type { Database } from '#db/client.ts';
import { sumPages } from '#db/queries/run-pages.ts';
import { findRuns, type RunRow } from '#db/queries/runs.ts';
import { terminalColumns } from '#src/cli/kit/list-command.ts';
import type { Output } from '#src/cli/kit/output.ts';
import { openProgress } from '#src/cli/kit/progress.ts';
import { waitForResult } from '#src/cli/kit/wait.ts';
import { DETAIL_COUNTERS, RUN_COUNTERS } from '#src/contract/words.ts';
import { EXIT, type ExitCode, NotFoundError } from '#src/errors.ts';
import { runList } from '#src/lists/runs.ts';
import type {
  startAcceptingRun as StartAcceptingRun,
  startManualRun as StartManualRun,
} from '#src/operations/runs.ts';
import type { Foundation } from '#src/processes/foundation.ts';
import type { Producer } from '#src/queue/producer.ts';

type StartRun = (
  operation: typeof StartManualRun | typeof StartAcceptingRun,
  given: { application_id: string; full: boolean },
) => Promise<{ run: RunRow; opened: boolean }>;

/**
 * Opens a run for each application that has no open run, and adds its first step.
 * @param operate runs an operation as the caller
 * @param skip is called for an application that was removed meanwhile. Absent: the command fails
 */
export const startRuns = async (
  operate: StartRun,
  application_ids: readonly string[],
  { full, accept_withdrawals }: { full: boolean; accept_withdrawals: boolean },
  skip?: (application_id: string) => void,
): Promise<{ opened: RunRow[]; alreadyRunning: RunRow[] }> => {
  const { startAcceptingRun, startManualRun } = await import('#src/operations/runs.ts');
  const operation = accept_withdrawals ? startAcceptingRun : startManualRun;
  const opened: RunRow[] = [];
  const alreadyRunning: RunRow[] = [];
  for (const application_id of application_ids) {
    const started = await operate(operation, { application_id, full }).catch((error: unknown) => {
      if (skip === undefined || !(error instanceof NotFoundError)) throw error;
      skip(application_id);
      return undefined;
    });
    if (started === undefined) continue;
    (started.opened ? opened : alreadyRunning).push(started.run);
  }
  return { opened, alreadyRunning };
};

/** Counts the games of a run, and those that are done. An ended run may have no pages any more, so its own counters are used. */
const countGames = async (sql: Database, run: RunRow): Promise<{ done: number; total: number }> => {
  if (run.finished_at !== null)
    return { done: DETAIL_COUNTERS.reduce((sum, counter) => sum + run[counter], 0), total: run.listed };
  const { listed, written, total } = await sumPages(sql, run.run_id);
  return { done: written, total: Math.max(total, listed) };
};

/** Runs whose jobs are looked up, and how often, because each takes a request of the queue for each of its pages. */
const LOOKED_UP_MAX = 20;
const LOOK_UP_MS = 5_000;

/** Finds why a job of an open run has failed. Until it is retried or the run recovers, nothing else shows the cause. */
const findFault = async (producer: Producer, run: RunRow): Promise<string | undefined> => {
  const { queryGameDetail, queryGameList } = await import('#src/ingest/specs.ts');
  const { PAGES_A_JOB, stepId } = await import('#src/ingest/steps.ts');
  const last = run.next_page;
  const pages = Array.from({ length: Math.min(last, PAGES_A_JOB) }, (_, n) => last - n);
  const steps = [
    [queryGameDetail, last - 1] as const,
    ...pages.map((page) => [queryGameList, page] as const),
  ];
  for (const [spec, page_num] of steps) {
    const job = await producer.queue(spec).getJob(stepId(run, page_num));
    if (job?.failedReason && !(await job.isCompleted()))
      return `an attempt of its job ${spec.name} failed (${job.failedReason}): see npx catalogue queue status, and the log of the workers.`;
  }
  return undefined;
};

/**
 * Waits until the runs end, with a progress bar for each.
 * @returns the ended runs
 * @throws CatalogueError after `timeoutMs`, without a worker, or at Ctrl-C; the runs continue
 */
export const waitForRuns = async (
  foundation: Foundation,
  out: Output,
  runs: readonly RunRow[],
  timeoutMs: number,
): Promise<RunRow[]> => {
  const { sql } = foundation;
  const applicationIds = runs.map((run) => run.application_id);
  const runIds = runs.map((run) => run.run_id);
  const progress = openProgress(out, applicationIds, 'games');
  const shown = progress === undefined ? out : { ...out, note: progress.note };
  const told = new Set<string>();
  const tell = (application_id: string, what: string | null | undefined): void => {
    const line = `${application_id}: ${what}`;
    if (what == null || told.has(line)) return;
    told.add(line);
    shown.note(line);
  };
  let lookedUpAt = performance.now();
  const poll = async (): Promise<RunRow[] | undefined> => {
    const current = await findRuns(sql, runIds);
    const open = current.filter(({ finished_at }) => finished_at === null);
    for (const { application_id, note } of open) tell(application_id, note);
    if (performance.now() - lookedUpAt > LOOK_UP_MS) {
      for (const run of open.slice(0, LOOKED_UP_MAX))
        tell(run.application_id, await findFault(foundation.producer, run));
      lookedUpAt = performance.now();
    }
    if (progress !== undefined) {
      for (const run of current) {
        const { done, total } = await countGames(sql, run);
        progress.update(run.application_id, done, total);
      }
    }
    return open.length === 0 ? current : undefined;
  };
  const show = runs.length === 1 ? `run show ${runIds[0]}` : 'run list';
  const hint = `${runs.length === 1 ? 'The run goes' : 'The runs go'} on: npx catalogue ${show}`;
  return waitForResult(foundation, shown, poll, { timeoutMs, hint });
};

/** How the end of runs is shown: with every counter. */
export const ENDED_COLUMNS = terminalColumns(runList, ['application_id', 'outcome', ...RUN_COUNTERS]);

/** The exit code of the worst outcome. */
export const exitCodeOfRuns = (runs: readonly RunRow[], alreadyRunning: boolean): ExitCode => {
  const outcomes = runs.map((run) => run.outcome);
  if (outcomes.some((outcome) => outcome === 'failed' || outcome === 'abandoned')) return EXIT.failed;
  if (alreadyRunning) return EXIT.alreadyRunning;
  return outcomes.every((outcome) => outcome === 'succeeded') ? EXIT.done : EXIT.partial;
};
