import { z } from 'zod';
import { listRunDayPage } from '#db/queries/run-days.ts';
import { listRunPage, RUN_SORTS, type RunItem } from '#db/queries/run-list.ts';
import { listRunPagePage, RUN_PAGE_SORTS } from '#db/queries/run-page-list.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { listVanishingGamePage } from '#db/queries/vanishing-games.ts';
import { count, counts, gameNames, runDocument, time } from '#src/contract/documents.ts';
import {
  AUDIT_STATUSES,
  DETAIL_COUNTERS,
  PAGE_KINDS,
  RUN_COUNTERS,
  RUN_OUTCOMES,
  type RunCounts,
} from '#src/contract/words.ts';
import { formatUtc } from '#src/lib/utc.ts';
import { APPLICATION, APPLICATION_GAME, countColumn, GAME_NAME } from '#src/lists/columns.ts';
import { choice, onlyApplication, since, theId } from '#src/lists/filters.ts';
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

/** The same with its course. */
export const toFullRunDocument = (run: RunRow) => {
  const { trigger, full, total_last: total, next_page, started_at, progress_at, finished_at } = run;
  return { ...toRunDocument(run), trigger, full, total, next_page, started_at, progress_at, finished_at };
};

/** Counters that a narrow page shows. Only a wide page shows those that are zero, or that the reason says. */
const WIDTHS: Partial<Record<string, 'medium' | 'widest'>> = {
  listed: 'medium',
  inserted: 'medium',
  failed: 'medium',
  updated: 'widest',
  missing: 'widest',
  withdrawn: 'widest',
};
const TITLES: Partial<Record<string, string>> = { inserted: 'New', updated: 'Changed' };

/** The word for a counter. Its key is that of the database. */
export const counterWord = (counter: string): string => TITLES[counter]?.toLowerCase() ?? counter;

const RUN_COUNTS = RUN_COUNTERS.map((counter): Column<RunRow> => {
  const sort = RUN_SORTS.find((each) => each === counter);
  return {
    ...countColumn(counter, TITLES[counter]),
    // The counters of a run are known when it ends.
    value: (run) => (run.finished_at === null ? null : run[counter]),
    width: WIDTHS[counter] ?? 'wider',
    ...(counter !== 'listed' && { on: counter === 'unchanged' ? 'none' : 'page' }),
    ...(sort !== undefined && { sort }),
  };
});

/** Counters by how much they need attention, so that what a narrow table cuts off matters least. */
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
  BY_ATTENTION.flatMap((counter) =>
    run[counter] === 0 ? [] : [`${run[counter]} ${counterWord(counter)}`],
  ).join(', ');

/** Explains why a run ended as it did, or what an open run waits for. */
export const whyOf = ({ reason, finished_at, note }: RunRow): string | null =>
  reason ?? (finished_at === null ? note : null);

/** Says how far an open run has come. A run whose number of pages grows is long; any other is stuck. */
const progressOf = ({ finished_at, next_page, total_last, progress_at }: RunRow): string | null => {
  if (finished_at !== null) return null;
  const total = total_last === null ? '' : ` of ${total_last} games`;
  return `page ${next_page}${total} is next, the last progress was at ${formatUtc(progress_at)}`;
};

export const explainRun = (run: RunRow): string | null => whyOf(run) ?? progressOf(run);

export const runList = defineList({
  name: 'run.list',
  nouns: ['run', 'runs'],
  right: 'view',
  row: runDocument,
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
    { ...APPLICATION, label: ({ application_name }: RunItem) => application_name },
    { key: 'outcome', kind: 'status', value: (run) => run.outcome ?? 'open' },
    {
      key: 'trigger',
      kind: 'id',
      value: ({ trigger, full }) => `${trigger}${full ? ', full' : ''}`,
      on: 'none',
    },
    {
      key: 'took',
      kind: 'duration',
      value: ({ started_at, finished_at }) => (finished_at ?? new Date()).getTime() - started_at.getTime(),
      width: 'widest',
      on: 'page',
    },
    ...RUN_COUNTS,
    { key: 'games', value: formatCounts, width: 'narrow' },
    { key: 'why', value: explainRun },
    { key: 'run_id', title: 'Run', kind: 'id', on: 'terminal' },
  ],
  empty: 'No application has run yet.',
  noMatch: 'No run matches.',
  document: toFullRunDocument,
  read: listRunPage,
});

/** Runs of each day (UTC) by outcome, also of runs that are deleted. */
export const runDayList = defineList({
  name: 'run.days',
  nouns: ['day', 'days'],
  right: 'view',
  row: z.object({
    day: z.string(),
    outcome: z.enum(RUN_OUTCOMES),
    runs: count,
    ...counts(RUN_COUNTERS).shape,
  }),
  filter: z.object({ application_id: onlyApplication() }),
  sorts: [],
  order: '-day',
  columns: [
    { key: 'day', kind: 'word' },
    { key: 'outcome', kind: 'status' },
    { key: 'runs', kind: 'number' },
    ...RUN_COUNTERS.map((counter) => countColumn(counter, TITLES[counter])),
  ],
  empty: 'No run has finished.',
  read: listRunDayPage,
});

const theRun = () =>
  theId({ name: 'run', title: 'Run', description: 'the run; its id may be cut short', table: 'sync_runs' });

export const runPageList = defineList({
  name: 'run.pages',
  nouns: ['page', 'pages'],
  right: 'view',
  row: z.object({
    page_num: z.int(),
    kind: z.enum(PAGE_KINDS),
    reason: z.string().nullable(),
    row_count: count,
    listed: count,
    ...counts(DETAIL_COUNTERS).shape,
    waiting: count,
    listed_at: time,
  }),
  filter: z.object({ run_id: theRun() }),
  sorts: RUN_PAGE_SORTS,
  order: '-page_num',
  columns: [
    { key: 'page', kind: 'id', value: ({ page_num }) => String(page_num), sort: 'page_num' },
    { key: 'kind', kind: 'word', note: ({ reason }) => reason },
    countColumn('row_count', 'Rows'),
    ...DETAIL_COUNTERS.map((counter) => ({
      ...countColumn(counter, TITLES[counter]),
      width: WIDTHS[counter] === 'medium' ? ('medium' as const) : ('wide' as const),
    })),
    { ...countColumn('waiting'), width: 'medium' },
    { key: 'listed', kind: 'age', value: (row) => row.listed_at, width: 'medium' },
  ],
  empty:
    'No page is recorded. Pages are deleted a day after their run ends; pages that found nothing changed, when it ends.',
  read: listRunPagePage,
});

/** The games that a suspect run would withdraw. */
export const runWithdrawalList = defineList({
  name: 'run.withdrawals',
  nouns: ['game', 'games'],
  right: 'view',
  row: gameNames.extend({
    game_icon: z.array(z.string()),
    audit_status: z.enum(AUDIT_STATUSES),
    fetched_at: time,
  }),
  filter: z.object({ run_id: theRun() }),
  sorts: ['game_id'],
  order: 'game_id',
  columns: [
    { key: 'game_id', kind: 'id' },
    GAME_NAME,
    APPLICATION_GAME,
    { key: 'audit_status', title: 'Status', kind: 'status' },
    { key: 'fetched', kind: 'age', value: (row) => row.fetched_at },
  ],
  empty: 'No game waits for a decision about its withdrawal.',
  read: listVanishingGamePage,
});
