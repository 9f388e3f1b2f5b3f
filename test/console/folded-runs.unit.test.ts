import { expect, it } from 'vitest';
import type { RunRow } from '#db/queries/runs.ts';
import { RUN_COUNTERS } from '#src/contract/words.ts';
import { foldQuietRuns } from '#src/site/quiet-runs.ts';

const zeros = Object.fromEntries(RUN_COUNTERS.map((counter) => [counter, 0]));
const aRun = (run_id: string, changes: Partial<RunRow> = {}): RunRow =>
  ({ ...zeros, listed: 9, unchanged: 9, outcome: 'succeeded', run_id, ...changes }) as RunRow;

it('runs in a row without a change are one line; a failure, an open run and a change stand alone', () => {
  const runs = [
    aRun('open', { outcome: null }),
    aRun('q1'),
    aRun('q2'),
    aRun('q3'),
    aRun('new', { inserted: 1 }),
    aRun('q4'),
    aRun('failed', { outcome: 'failed' }),
    aRun('withdrew', { withdrawn: 1 }),
  ];
  const { rows, folded } = foldQuietRuns(runs);
  expect(rows.map(({ run_id }) => run_id)).toEqual(['open', 'q1', 'new', 'q4', 'failed', 'withdrew']);
  expect([...folded]).toEqual([['q1', 2]]);
  expect(foldQuietRuns([])).toEqual({ rows: [], folded: new Map() });
});
