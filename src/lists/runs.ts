import { z } from 'zod';
import { listRunDayPage, type RunDay } from '#db/queries/run-days.ts';
import { listRunPage, RUN_SORTS } from '#db/queries/run-list.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { RUN_COUNTERS, RUN_OUTCOMES } from '#src/contract/words.ts';
import { choice, onlyApplication, since } from '#src/lists/filters.ts';
import { type Column, defineList } from '#src/lists/list.ts';

/** A run as JSON documents have it. `outcome` is null while the run is open. */
export const toRunDocument = (run: RunRow) => ({
  run_id: run.run_id,
  application_id: run.application_id,
  outcome: run.outcome,
  ...(Object.fromEntries(RUN_COUNTERS.map((counter) => [counter, run[counter]])) as RunCounts),
  ...(run.reason === null ? {} : { reason: run.reason }),
  ...(run.note === null ? {} : { note: run.note }),
});
type RunCounts = Record<(typeof RUN_COUNTERS)[number], number>;

/** The same with its course. */
export const toFullRunDocument = (run: RunRow) => {
  const { trigger, full, total_last: total, next_page, started_at, progress_at, finished_at } = run;
  return { ...toRunDocument(run), trigger, full, total, next_page, started_at, progress_at, finished_at };
};

/** Counters that a narrow page shows: what came, and what did not. */
const FIRST_COUNTERS: readonly string[] = ['listed', 'inserted', 'failed'];
/** Counters that only a wide page has room for. */
const LAST_COUNTERS: readonly string[] = ['updated', 'unchanged'];

const widthOf = (counter: string) => {
  if (FIRST_COUNTERS.includes(counter)) return 'medium';
  return LAST_COUNTERS.includes(counter) ? 'widest' : 'wider';
};

/** Counters by how much they need attention: what a narrow table cuts off matters least. */
const BY_ATTENTION = [
  'failed',
  'invalid',
  'missing',
  'withdrawn',
  'inserted',
  'updated',
  'unchanged',
] as const;

const formatCounts = (run: RunRow): string =>
  BY_ATTENTION.flatMap((counter) => (run[counter] === 0 ? [] : [`${run[counter]} ${counter}`])).join(', ');

const titleOf = (counter: string): string => `${counter[0]?.toUpperCase()}${counter.slice(1)}`;

const countColumn = (counter: (typeof RUN_COUNTERS)[number]): Column<RunRow> => ({
  key: counter,
  title: titleOf(counter),
  kind: 'number',
  value: (run) => run[counter],
  width: widthOf(counter),
  on: 'page',
  ...((RUN_SORTS as readonly string[]).includes(counter) && { sort: counter }),
});

export const runList = defineList({
  name: 'run.list',
  plural: 'runs',
  right: 'view',
  filter: z.object({
    application_id: onlyApplication(),
    outcome: choice(['open', ...RUN_OUTCOMES], {
      name: 'outcome',
      title: 'Outcome',
      description: 'only runs with this outcome; open: those that have not ended',
    }),
    since: since(),
  }),
  sorts: RUN_SORTS,
  order: '-started_at',
  columns: [
    {
      key: 'ago',
      title: 'Started',
      kind: 'age',
      value: (run) => run.started_at,
      sort: 'started_at',
      link: ({ run_id }) => ({ to: 'run', id: run_id }),
    },
    {
      key: 'application_id',
      title: 'Application',
      kind: 'text',
      value: (run) => run.application_id,
      link: ({ application_id }) => ({ to: 'application', id: application_id }),
    },
    { key: 'outcome', title: 'Outcome', kind: 'status', value: (run) => run.outcome ?? 'open' },
    {
      key: 'trigger',
      title: 'Trigger',
      kind: 'id',
      value: ({ trigger, full }) => `${trigger}${full ? ', full' : ''}`,
      width: 'widest',
      on: 'page',
    },
    {
      key: 'took',
      title: 'Took',
      kind: 'duration',
      value: ({ started_at, finished_at }) => (finished_at ?? new Date()).getTime() - started_at.getTime(),
      width: 'wide',
      on: 'page',
    },
    { key: 'listed', title: 'Listed', kind: 'number', value: (run) => run.listed, on: 'terminal' },
    ...RUN_COUNTERS.map(countColumn),
    { key: 'games', title: 'Games', kind: 'text', value: formatCounts, on: 'terminal' },
    { key: 'why', title: 'Why', kind: 'text', value: (run) => run.reason, on: 'terminal' },
    { key: 'run_id', title: 'Run', kind: 'id', value: (run) => run.run_id, on: 'terminal' },
  ],
  empty: 'No application has run yet.',
  noMatch: 'No run matches.',
  document: toFullRunDocument,
  read: listRunPage,
});

/** Runs of each day (UTC) by outcome, also of runs that are deleted. */
export const runDayList = defineList({
  name: 'run.days',
  plural: 'days',
  right: 'view',
  filter: z.object({ application_id: onlyApplication() }),
  sorts: [],
  order: '-day',
  columns: [
    { key: 'day', title: 'Day', kind: 'id', value: ({ day }) => day },
    { key: 'outcome', title: 'Outcome', kind: 'status', value: ({ outcome }) => outcome },
    { key: 'runs', title: 'Runs', kind: 'number', value: ({ runs }) => runs },
    ...RUN_COUNTERS.map(
      (counter): Column<RunDay> => ({
        key: counter,
        title: titleOf(counter),
        kind: 'number',
        value: (row) => row[counter],
      }),
    ),
  ],
  empty: 'No run has finished.',
  read: listRunDayPage,
});
