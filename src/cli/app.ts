import type { Command } from '@commander-js/extra-typings';
import {
  type ApplicationRow,
  type ApplicationSettings,
  insertApplication,
  listApplications,
  removeApplication,
  resumeApplications,
  setApplicationStatus,
  updateApplication,
} from '#db/queries/applications.ts';
import { defineCheck } from '#src/cli/app-check.ts';
import { addSettings, checkWebhooks, toSettings } from '#src/cli/app-settings.ts';
import { defineCommand } from '#src/cli/command.ts';
import type { CommandContext } from '#src/cli/context.ts';
import { formatDuration, formatTime } from '#src/cli/format.ts';
import { sealGivenToken, TOKEN_ENV, TOKEN_FILE } from '#src/cli/given-access-token.ts';
import { APPLICATION, parseApplicationId } from '#src/cli/parsers.ts';
import { requireApplication } from '#src/cli/require-application.ts';
import { UsageError } from '#src/errors.ts';

const NEW_ID = 'a short id that you choose: a-z, 0-9 and "-"';

/** An application as commands print it: without its access token. */
const toApplicationDocument = (row: ApplicationRow) => ({
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
  created_at: row.created_at,
  updated_at: row.updated_at,
});

/** Why an application is paused or postponed. */
const formatTrouble = (row: ReturnType<typeof toApplicationDocument>): string => {
  if (row.reason !== null) return row.reason;
  if (row.failing_since === null) return '';
  const next = row.next_attempt_at === null ? '' : `, next attempt ${formatTime(row.next_attempt_at)}`;
  return `failing since ${formatTime(row.failing_since)} (runs: ${row.failed_runs})${next}`;
};

const setStatus = async (
  { openDatabase, out }: CommandContext,
  application_id: string,
  status: 'active' | 'paused',
): Promise<void> => {
  const sql = await openDatabase();
  await requireApplication(sql, application_id);
  await setApplicationStatus(sql, application_id, status);
  out.answer({ application_id, status }, `${application_id} is ${status}.`);
};

/** `catalogue app …` */
export const register = (program: Command): void => {
  const app = program.command('app');

  defineCommand(app, 'add', {
    summary: 'register an application',
    details: 'Its first run starts with its schedule. To start one now, use sync.',
    examples: [
      'app add acme --name "Acme Games" --query-game-list-webhook https://acme.example/list \\\n      --query-game-detail-webhook https://acme.example/detail --query-cp-kyc-webhook https://acme.example/kyc \\\n      --access-token-file acme.token',
    ],
    parameters: (command) => {
      addSettings(command, 'add');
      return command
        .argument('<application_id>', NEW_ID, parseApplicationId)
        .option(...TOKEN_FILE)
        .option(...TOKEN_ENV);
    },
    run: async (context, application_id, options) => {
      const settings = toSettings(options) as ApplicationSettings;
      const token = await sealGivenToken(context, application_id, options);
      if (token === undefined)
        throw new UsageError('Give its access token with --access-token-file or --access-token-env.');
      await checkWebhooks(context, settings);
      const sql = await context.openDatabase();
      if (!(await insertApplication(sql, application_id, settings, token)))
        throw new UsageError(
          `"${application_id}" is already registered: change it with app update, or choose another id.`,
        );
      context.out.answer(
        toApplicationDocument(await requireApplication(sql, application_id)),
        `Registered ${application_id}. Pull its games now: npx catalogue sync ${application_id} --wait`,
      );
    },
  });

  defineCommand(app, 'update', {
    summary: 'change settings of an application',
    examples: ['app update acme --every 1h --rate 20', 'app update acme --access-token-file new.token'],
    parameters: (command) => {
      addSettings(command, 'update');
      return command
        .argument(...APPLICATION)
        .option(...TOKEN_FILE)
        .option(...TOKEN_ENV);
    },
    run: async (context, application_id, options) => {
      const changes = { ...toSettings(options), ...(await sealGivenToken(context, application_id, options)) };
      if (Object.keys(changes).length === 0)
        throw new UsageError('Give at least one setting: npx catalogue app update --help lists them.');
      await checkWebhooks(context, changes);
      const sql = await context.openDatabase();
      await requireApplication(sql, application_id);
      await updateApplication(sql, application_id, changes);
      const document = toApplicationDocument(await requireApplication(sql, application_id));
      context.out.answer(document, `Changed ${application_id}.`);
    },
  });

  defineCommand(app, 'list', {
    summary: 'list the applications',
    examples: ['app list', 'app list --json'],
    run: async ({ openDatabase, out }) => {
      const applications = (await listApplications(await openDatabase())).map(toApplicationDocument);
      out.list(
        { applications },
        applications,
        ['application_id', 'name', 'status', 'every', 'kyc_every', 'created_at', ['reason', formatTrouble]],
        'No application is registered: npx catalogue app add --help',
      );
    },
  });

  defineCommand(app, 'show', {
    summary: 'show one application',
    examples: ['app show acme'],
    parameters: (command) => command.argument(...APPLICATION),
    run: async ({ openDatabase, out }, application_id) =>
      out.record(toApplicationDocument(await requireApplication(await openDatabase(), application_id))),
  });

  defineCommand(app, 'pause', {
    summary: 'stop its schedules; an open run finishes',
    examples: ['app pause acme'],
    parameters: (command) => command.argument(...APPLICATION),
    run: (context, application_id) => setStatus(context, application_id, 'paused'),
  });

  defineCommand(app, 'resume', {
    summary: 'start its schedules again',
    details:
      'With --all, every application that failed runs have paused or delayed, as after an outage of the fleet. An application that an operator has paused stays paused.',
    examples: ['app resume acme', 'app resume --all'],
    parameters: (command) =>
      command
        .argument('[application_id]', 'the application', parseApplicationId)
        .option('--all', 'every application that failed runs have paused or delayed'),
    run: async (context, application_id, { all }) => {
      if ((application_id === undefined) === (all === undefined))
        throw new UsageError('Name one application, or use --all.');
      if (application_id !== undefined) return setStatus(context, application_id, 'active');
      const application_ids = await resumeApplications(await context.openDatabase());
      context.out.answer(
        { application_ids, status: 'active' },
        `Applications resumed: ${application_ids.length}.`,
      );
    },
  });
  defineCheck(app);

  defineCommand(app, 'remove', {
    summary: 'remove an application',
    details:
      'Deletes its access token, withdraws its games and revokes its API tokens. Games, revisions and decisions stay readable.',
    examples: ['app remove acme'],
    parameters: (command) => command.argument(...APPLICATION),
    run: async ({ openDatabase, out }, application_id) => {
      const sql = await openDatabase();
      await requireApplication(sql, application_id);
      await removeApplication(sql, application_id);
      out.answer(
        { application_id, status: 'removed' },
        `Removed ${application_id}. Its games are withdrawn and its API tokens revoked.`,
      );
    },
  });
};
