import { expect, it } from 'vitest';
import type { RunRow } from '#db/queries/runs.ts';
import { RUN_COUNTERS } from '#src/contract/words.ts';
import { foldRuns } from '#src/site/folded-runs.ts';

const idsOf = (folded: Map<string, RunRow[]>) =>
  [...folded].map(([first, others]) => [first, ...others.map(({ run_id }) => run_id)]);

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
  const { rows, folded } = foldRuns(runs);
  expect(rows.map(({ run_id }) => run_id)).toEqual(['open', 'q1', 'new', 'q4', 'failed', 'withdrew']);
  expect(idsOf(folded)).toEqual([['q1', 'q2', 'q3']]);
  expect(foldRuns([])).toEqual({ rows: [], folded: new Map() });
});

it('runs in a row that failed alike are one line; another reason, another count and a change stand alone', () => {
  const failed = { outcome: 'failed', reason: 'page 1: timeout' } as const;
  const partial = { outcome: 'partial', reason: '1 invalid, 0 failed', invalid: 1 } as const;
  const runs = [
    aRun('f1', failed),
    aRun('f2', failed),
    aRun('f3', failed),
    aRun('other reason', { ...failed, reason: 'page 2: timeout' }),
    aRun('other outcome', { ...failed, outcome: 'abandoned', reason: 'page 2: timeout' }),
    aRun('p1', partial),
    aRun('p2', partial),
    aRun('other count', { ...partial, listed: 8 }),
    aRun('i1', { ...partial, inserted: 1 }),
    aRun('i2', { ...partial, inserted: 1 }),
    aRun('open', { outcome: null, reason: null }),
  ];
  const { rows, folded } = foldRuns(runs);
  expect(rows.map(({ run_id }) => run_id)).toEqual([
    'f1',
    'other reason',
    'other outcome',
    'p1',
    'other count',
    'i1',
    'i2',
    'open',
  ]);
  expect(idsOf(folded)).toEqual([
    ['f1', 'f2', 'f3'],
    ['p1', 'p2'],
  ]);
});
