/** Runs that found no change, as one line of a table. */
import type { RunRow } from '#db/queries/runs.ts';
import { RUN_COUNTERS } from '#src/contract/words.ts';
import { badge, html, number, type SafeHtml } from '#src/site/html.ts';

/** The counters that a run without changes increments. */
const QUIET_COUNTERS: readonly string[] = ['listed', 'unchanged'];

const isQuiet = (run: RunRow): boolean =>
  run.outcome === 'succeeded' &&
  RUN_COUNTERS.every((counter) => run[counter] === 0 || QUIET_COUNTERS.includes(counter));

/**
 * Keeps the first of each series of quiet runs.
 * @param runs the latest first
 * @returns the runs that stay, and how many each of them stands for besides itself
 */
export const foldQuietRuns = (runs: readonly RunRow[]): { rows: RunRow[]; folded: Map<string, number> } => {
  const rows: RunRow[] = [];
  const folded = new Map<string, number>();
  for (const run of runs) {
    const last = rows.at(-1);
    if (last !== undefined && isQuiet(last) && isQuiet(run))
      folded.set(last.run_id, (folded.get(last.run_id) ?? 0) + 1);
    else rows.push(run);
  }
  return { rows, folded };
};

/** Shows the outcome of a run, and for how many quiet runs it stands. */
export const outcomeCell =
  (folded: ReadonlyMap<string, number>) =>
  ({ run_id, outcome }: RunRow): SafeHtml => {
    const more = folded.get(run_id);
    const times =
      more === undefined
        ? null
        : html` <span class="soft" title="Runs in a row without a change">×\u00a0${number(more + 1)}</span>`;
    return html`${badge(outcome ?? 'open')}${times}`;
  };
