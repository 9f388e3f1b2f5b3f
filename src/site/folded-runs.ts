/** Runs in a row that found no change, or that failed alike, as one line of a table. */
import type { RunRow } from '#db/queries/runs.ts';
import { RUN_COUNTERS } from '#src/contract/words.ts';
import { ago, badge, html, number, type SafeHtml } from '#src/site/html.ts';

/** The counters that a run without changes increments. */
const QUIET_COUNTERS: readonly string[] = ['listed', 'unchanged'];

const isQuiet = (run: RunRow): boolean =>
  run.outcome === 'succeeded' &&
  RUN_COUNTERS.every((counter) => run[counter] === 0 || QUIET_COUNTERS.includes(counter));

/** The counters of games that changed, which no other run stands for. */
const CHANGES: readonly string[] = ['inserted', 'updated', 'withdrawn'];

/** Did two runs end without success, by one outcome, reason and count, and change nothing? */
const failedAlike = (one: RunRow, other: RunRow): boolean =>
  one.outcome !== null &&
  one.outcome !== 'succeeded' &&
  one.outcome === other.outcome &&
  one.reason === other.reason &&
  RUN_COUNTERS.every(
    (counter) => one[counter] === other[counter] && (one[counter] === 0 || !CHANGES.includes(counter)),
  );

/**
 * Keeps the first of each series of quiet runs, and of runs that failed alike.
 * @param runs the latest first
 * @returns the runs that stay, and of each the others that it stands for
 */
export const foldRuns = (runs: readonly RunRow[]): { rows: RunRow[]; folded: Map<string, RunRow[]> } => {
  const rows: RunRow[] = [];
  const folded = new Map<string, RunRow[]>();
  for (const run of runs) {
    const last = rows.at(-1);
    if (last !== undefined && ((isQuiet(last) && isQuiet(run)) || failedAlike(last, run)))
      folded.set(last.run_id, [...(folded.get(last.run_id) ?? []), run]);
    else rows.push(run);
  }
  return { rows, folded };
};

/**
 * Shows the outcome of a run, for how many runs it stands, and when the first of them began.
 * @param open the badge of a run that has not ended
 */
export const outcomeCell =
  (folded: ReadonlyMap<string, readonly RunRow[]>, open = badge('open')) =>
  ({ run_id, outcome }: RunRow): SafeHtml => {
    const others = folded.get(run_id) ?? [];
    const first = others.at(-1);
    const title =
      outcome === 'succeeded' ? 'Runs in a row without a change' : 'Runs in a row that ended alike';
    const times =
      first === undefined
        ? null
        : html` <span class="soft" title="${title}">×\u00a0${number(others.length + 1)}, since ${ago(first.started_at)}</span>`;
    return html`${outcome === null ? open : badge(outcome)}${times}`;
  };
