import { type Command, Option } from '@commander-js/extra-typings';
import type { Database } from '#db/client.ts';
import { type ExportedDecision, listExportedDecisions } from '#db/queries/exports.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import { parseMoment } from '#src/cli/kit/parsers.ts';
import { ROW_FORMATS, writeRows } from '#src/cli/kit/write-rows.ts';
import { UsageError } from '#src/errors.ts';
import { readPages } from '#src/lib/read-pages.ts';

const PAGE = 1_000;

const COLUMNS = [
  'audit_id',
  'application_id',
  'application_game_id',
  'game_id',
  'game_name',
  'revision',
  'audit_status',
  'decided_at',
  'decided_by',
  'reason',
  'reason_label',
  'text',
  'waiting_since',
  'waited_s',
  'stands',
  'undone_at',
  'undone_by',
  'appeal_outcome',
  'appeal_text',
  'appealed_at',
  'appeal_decided_by',
  'appeal_decided_at',
  'appeal_answer',
  'thread',
] as const satisfies readonly (keyof ExportedDecision)[];

const exportPages = (sql: Database, since: Date) =>
  readPages<ExportedDecision>(PAGE, (last) =>
    listExportedDecisions(sql, { since, after: last?.audit_id ?? 0 }, PAGE),
  );

/** `catalogue decision …` */
export const register = (program: Command): void => {
  const decision = program.command('decision');

  defineCommand(decision, 'export', {
    summary: 'print every decision since a time: the statement of reasons',
    details:
      'With the reason, the text that the application was given, how long the game waited, and whether the decision stands: undone ones have undone_at. With the appeal and its decision, and what operators and the developer wrote to each other between the decisions before and after; in CSV as JSON. In the order in which they were stored.',
    examples: [
      'decision export --since 2026-01-01',
      'decision export --since 90d --format csv > decisions.csv',
    ],
    parameters: (command) =>
      command
        .requiredOption(
          '--since <time>',
          'from this time on (local, if it names no zone), or this long ago: 24h',
          parseMoment,
        )
        .addOption(
          new Option('--format <format>', 'of the rows').choices(ROW_FORMATS).default('ndjson' as const),
        ),
    run: async ({ openDatabase, out }, { since, format }) => {
      if (out.json && format === 'csv') throw new UsageError('Give --json or --format csv, not both.');
      await writeRows(out, format, COLUMNS, exportPages(await openDatabase(), since));
    },
  });
};
