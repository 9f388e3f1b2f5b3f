import type { RunRow } from '#db/queries/runs.ts';
import type { Column } from '#src/cli/output.ts';
import { EXIT, type ExitCode } from '#src/errors.ts';

/** A run as `--json` shows it (design, section 9). `outcome` is null while it is open. */
export const runDocument = (run: RunRow) => ({
  run_id: run.run_id,
  application_id: run.application_id,
  outcome: run.outcome,
  listed: run.listed,
  inserted: run.inserted,
  updated: run.updated,
  unchanged: run.unchanged,
  invalid: run.invalid,
  failed: run.failed,
  missing: run.missing,
  withdrawn: run.withdrawn,
  ...(run.reason === null ? {} : { reason: run.reason }),
  ...(run.note === null ? {} : { note: run.note }),
});

const count = (header: keyof RunRow & string): Column<RunRow> => ({
  header,
  value: (run) => Number(run[header]),
  right: true,
});

export const RUN_COLUMNS: Column<RunRow>[] = [
  { header: 'application_id', value: (run) => run.application_id },
  { header: 'outcome', value: (run) => run.outcome ?? 'open' },
  count('listed'),
  count('inserted'),
  count('updated'),
  count('unchanged'),
  count('invalid'),
  count('failed'),
  count('missing'),
  count('withdrawn'),
];

/** The worst of what happened, as an exit code. */
export const exitCodeOf = (runs: readonly RunRow[], alreadyRunning: boolean): ExitCode => {
  const outcomes = runs.map((run) => run.outcome);
  if (outcomes.some((outcome) => outcome === 'failed' || outcome === 'abandoned')) return EXIT.failed;
  if (alreadyRunning) return EXIT.alreadyRunning;
  return outcomes.every((outcome) => outcome === 'succeeded') ? EXIT.done : EXIT.partial;
};
