import { z } from 'zod';
import {
  APPLICATION_CONDITIONS,
  APPLICATION_SORTS,
  type ApplicationItem,
  listApplicationPage,
} from '#db/queries/application-list.ts';
import { count, time } from '#src/contract/documents.ts';
import { spellKinds } from '#src/contract/failure-words.ts';
import { APPLICATION_STATUSES, REVIEW_PRIORITIES, RUN_OUTCOMES } from '#src/contract/words.ts';
import { formatDuration, roundDuration, spellDuration } from '#src/lib/duration.ts';
import { APPLICATION } from '#src/lists/columns.ts';
import { choice, LAST_OUTCOME, search } from '#src/lists/filters.ts';
import { defineList } from '#src/lists/list.ts';

type Stored = Omit<
  ApplicationItem,
  | `last_${'run_id' | 'outcome' | 'reason' | 'finished_at'}`
  | 'has_open_run'
  | 'games'
  | `suspect_${'run' | 'reason'}`
>;

/** Converts an application to JSON, without its access token. */
export const toApplicationDocument = (row: Stored) => ({
  application_id: row.application_id,
  name: row.name,
  status: row.status,
  reason: row.pause_reason,
  failed_runs: row.failed_runs,
  failing_since: row.failing_since,
  next_attempt_at: row.next_attempt_at,
  query_game_list_webhook: row.query_game_list_webhook,
  query_game_detail_webhook: row.query_game_detail_webhook,
  query_cp_kyc_webhook: row.query_cp_kyc_webhook,
  every: formatDuration(row.every_ms),
  kyc_every: formatDuration(row.kyc_every_ms),
  detail_max_age: formatDuration(row.detail_max_age_ms),
  concurrency: row.concurrency,
  rate: row.rate,
  volatile_parameters: row.volatile_parameters,
  review_priority: row.review_priority,
  created_at: row.created_at,
  updated_at: row.updated_at,
});

/** `last_run` is null before the first run ends. */
const toItemDocument = (row: ApplicationItem) => ({
  ...toApplicationDocument(row),
  games: row.games,
  last_run:
    row.last_run_id === null
      ? null
      : {
          run_id: row.last_run_id,
          outcome: row.last_outcome,
          reason: row.last_reason,
          finished_at: row.last_finished_at,
        },
});

/** Returns the condition that a person should see first. */
export const conditionOf = ({
  status,
  failing_since,
  suspect_run,
}: Pick<ApplicationItem, 'status' | 'failing_since' | 'suspect_run'>): string => {
  if (suspect_run !== null) return 'suspect';
  return status === 'active' && failing_since !== null ? 'failing' : status;
};

/** Explains why the application is paused, if it is. A worker gives a reason, an operator does not. */
const explainPause = ({ status, pause_reason }: Pick<ApplicationItem, 'status' | 'pause_reason'>) =>
  pause_reason ?? (status === 'paused' ? 'an operator paused it' : null);

/** The reason of the run that makes its condition: the suspect one, or the latest. */
const lastReason = ({ suspect_run, suspect_reason, last_reason }: ApplicationItem): string | null =>
  suspect_run === null ? last_reason : suspect_reason;

/** Explains the reasons of a pause and of that run, how long runs have failed, and when the next one is attempted. */
export const explainCondition = (row: ApplicationItem): string => {
  const { failing_since, next_attempt_at } = row;
  const now = Date.now();
  const parts = [explainPause(row), lastReason(row)];
  if (failing_since !== null)
    parts.push(`failing for ${spellDuration(roundDuration(now - failing_since.getTime()))}`);
  if (next_attempt_at !== null)
    parts.push(`next attempt in ${spellDuration(roundDuration(next_attempt_at.getTime() - now))}`);
  return parts.filter((part) => part !== null).join('; ');
};

/** The one reason that explains the condition, with codes in words. */
export const explainTrouble = (row: ApplicationItem): string => {
  const pause = row.suspect_run === null ? explainPause(row) : null;
  return spellKinds(pause ?? lastReason(row) ?? '');
};

/** What the columns of figures say, in a sentence. */
const summarise = ({ games, last_outcome, has_open_run }: ApplicationItem): string =>
  [
    games === 1 ? '1 game' : `${games} games`,
    last_outcome && `last run ${last_outcome}`,
    has_open_run && 'a run is open',
  ]
    .filter(Boolean)
    .join(', ');

export const applicationList = defineList({
  name: 'application.list',
  nouns: ['application', 'applications'],
  right: 'view',
  row: z.object({
    application_id: z.string(),
    name: z.string(),
    status: z.enum(APPLICATION_STATUSES),
    reason: z.string().nullable().describe('Why it is paused.'),
    failed_runs: count,
    failing_since: time.nullable(),
    next_attempt_at: time.nullable(),
    query_game_list_webhook: z.string(),
    query_game_detail_webhook: z.string(),
    query_cp_kyc_webhook: z.string(),
    every: z.string(),
    kyc_every: z.string(),
    detail_max_age: z.string(),
    concurrency: count,
    rate: count,
    volatile_parameters: z.array(z.string()),
    review_priority: z.enum(REVIEW_PRIORITIES),
    created_at: time,
    updated_at: time,
    games: count,
    last_run: z
      .object({
        run_id: z.guid(),
        outcome: z.enum(RUN_OUTCOMES).nullable(),
        reason: z.string().nullable(),
        finished_at: time.nullable(),
      })
      .nullable(),
  }),
  filter: z.object({
    status: choice(APPLICATION_CONDITIONS, {
      name: 'status',
      title: 'State',
      description: 'only applications in this state; trouble: paused, failing, or suspect',
    }),
    outcome: choice(RUN_OUTCOMES, LAST_OUTCOME),
    search: search('id or name', 'Name or id'),
  }),
  sorts: APPLICATION_SORTS,
  order: 'application_id',
  columns: [
    { ...APPLICATION, label: ({ name }) => name, sort: 'application_id' },
    { key: 'name', on: 'terminal' },
    {
      key: 'status',
      title: 'State',
      kind: 'status',
      value: conditionOf,
      link: ({ suspect_run }) => (suspect_run === null ? null : { to: 'run', id: suspect_run }),
    },
    {
      key: 'trouble',
      title: 'Why',
      value: explainTrouble,
      note: (row) => row.failing_since,
      on: 'none',
    },
    {
      key: 'last run',
      kind: 'status',
      value: (row) => row.last_outcome,
      note: ({ has_open_run }) => (has_open_run ? 'a run is open' : null),
      sort: 'last_run_at',
      width: 'wide',
    },
    { key: 'ago', title: 'Ended', kind: 'age', value: (row) => row.last_finished_at, on: 'terminal' },
    {
      key: 'last_success',
      kind: 'age',
      value: (row) => row.last_success_at,
      sort: 'last_success_at',
      width: 'wide',
      on: 'page',
    },
    { key: 'every', kind: 'duration', value: (row) => row.every_ms, width: 'wide' },
    { key: 'games', kind: 'number', on: 'page' },
    { key: 'summary', value: summarise, width: 'narrow', on: 'page' },
    { key: 'reason', title: 'Why', value: explainCondition },
  ],
  empty: 'There is no application yet: npx catalogue app add --help',
  noMatch: 'No application matches.',
  document: toItemDocument,
  read: listApplicationPage,
});
