import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { APPLICATION_SORTS, type ApplicationHealth, listApplicationHealth } from '#db/queries/health.ts';
import { toApplicationDocument } from '#src/cli/commands/app-document.ts';
import { formatAge, formatTime } from '#src/cli/kit/format.ts';
import { defineList } from '#src/cli/kit/list-command.ts';
import { searchIn } from '#src/cli/kit/parsers.ts';
import { RUN_OUTCOMES } from '#src/contract/words.ts';

/** `last_run` is null before the first run ends. */
const toHealthDocument = (row: ApplicationHealth) => ({
  ...toApplicationDocument(row),
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

/** The reasons of a pause and of the latest run, since when runs fail, and when the next one is attempted. */
const formatReasons = (row: ApplicationHealth): string => {
  const parts = [row.pause_reason, row.last_reason].filter((reason) => reason !== null);
  if (row.failing_since !== null) parts.push(`failing since ${formatTime(row.failing_since)}`);
  if (row.next_attempt_at !== null) parts.push(`next attempt ${formatTime(row.next_attempt_at)}`);
  return parts.join('; ');
};

/** Defines `app list`. */
export const defineAppList = (app: CommandUnknownOpts): void =>
  defineList(app, 'list', {
    summary: 'list the applications, with the outcome of their latest run',
    examples: ['app list', 'app list --outcome failed', 'app list --search mizu --sort -last_run_at'],
    parameters: (command) =>
      command
        .addOption(
          new Option('--status <status>', 'only applications of this status').choices([
            'active',
            'paused',
          ] as const),
        )
        .addOption(
          new Option('--outcome <outcome>', 'only applications whose latest run had this outcome').choices(
            RUN_OUTCOMES,
          ),
        )
        .option(...searchIn('id or name')),
    order: 'application_id',
    newest: '-created_at',
    sorts: APPLICATION_SORTS,
    limit: { max: 100_000, byDefault: 1_000 },
    filter: ({ status, outcome, search }) => ({ status, outcome, search }),
    list: listApplicationHealth,
    key: 'applications',
    toDocument: toHealthDocument,
    columns: [
      'application_id',
      'name',
      'status',
      ['last run', 'last_outcome'],
      ['ago', (row) => (row.last_finished_at === null ? '' : formatAge(row.last_finished_at))],
      ['reason', formatReasons],
    ],
    empty: 'No application: npx catalogue app add --help',
  });
