import type { RunRow } from '#db/queries/runs.ts';
import type { Column } from '#src/cli/output.ts';
import { RUN_COUNTERS, type RunCounts } from '#src/contract/words.ts';
import { EXIT, type ExitCode } from '#src/errors.ts';

/** A run as `sync --json` prints it (design, section 9). `outcome` is null while the run is open. */
export const toRunDocument = (run: RunRow) => ({
  run_id: run.run_id,
  application_id: run.application_id,
  outcome: run.outcome,
  ...(Object.fromEntries(RUN_COUNTERS.map((counter) => [counter, run[counter]])) as RunCounts),
  ...(run.reason === null ? {} : { reason: run.reason }),
  ...(run.note === null ? {} : { note: run.note }),
});

export const RUN_COLUMNS: Column<RunRow>[] = [
  'application_id',
  ['outcome', (run) => run.outcome ?? 'open'],
  ...RUN_COUNTERS,
];

/** The exit code of the worst outcome. */
export const exitCodeOfRuns = (runs: readonly RunRow[], alreadyRunning: boolean): ExitCode => {
  const outcomes = runs.map((run) => run.outcome);
  if (outcomes.some((outcome) => outcome === 'failed' || outcome === 'abandoned')) return EXIT.failed;
  if (alreadyRunning) return EXIT.alreadyRunning;
  return outcomes.every((outcome) => outcome === 'succeeded') ? EXIT.done : EXIT.partial;
};
