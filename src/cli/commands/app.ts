import type { Command } from '@commander-js/extra-typings';
import type { z } from 'zod';
import { isRegistered, wasRegistered } from '#db/queries/applications.ts';
import { defineChecks } from '#src/cli/commands/app-check.ts';
import { readApplicationDocument } from '#src/cli/commands/app-document.ts';
import { defineExport } from '#src/cli/commands/app-export.ts';
import { defineHolds } from '#src/cli/commands/app-holds.ts';
import { addSettings, checkWebhooks, toSettings } from '#src/cli/commands/app-settings.ts';
import {
  readGivenToken,
  TOKEN_ENV,
  TOKEN_FILE,
  warnOfInstallationKey,
} from '#src/cli/commands/given-access-token.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import type { CommandContext } from '#src/cli/kit/context.ts';
import { defineListCommand } from '#src/cli/kit/list-command.ts';
import { APPLICATION, parseApplicationId } from '#src/cli/kit/parsers.ts';
import { askYesNo, isInteractive, openPrompt } from '#src/cli/kit/prompt.ts';
import { requireApplication } from '#src/cli/kit/require-application.ts';
import type { applicationSettings } from '#src/contract/application-settings.ts';
import { CatalogueError, UsageError } from '#src/errors.ts';
import { applicationList } from '#src/lists/applications.ts';
import { unverifiedList } from '#src/lists/kyc.ts';

const NEW_ID = 'a short id that you choose: a-z, 0-9 and "-"';
const EVENTS_WEBHOOK = ['--events-webhook <url>', 'URL that its events are sent to', String] as const;

/** Imported when a command runs, because --help does without. */
const loadOperations = () => import('#src/operations/applications.ts');

const setStatus = async (
  { operate, out }: CommandContext,
  act: 'pause' | 'resume',
  application_id: string,
): Promise<void> => {
  const { pauseApplication, resumeApplication } = await loadOperations();
  const operation = act === 'pause' ? pauseApplication : resumeApplication;
  const { status } = await operate(operation, { application_id });
  out.answer({ application_id, status }, `${application_id} is ${status}.`);
};

/** The last step of add and update: prints the application, and the secret of a new address for its events. */
const answerChange = async (
  { openDatabase, out }: CommandContext,
  application_id: string,
  { secret, undelivered = 0 }: { secret?: string | undefined; undelivered?: number | undefined },
  done: string,
): Promise<void> => {
  const sql = await openDatabase();
  const document = await readApplicationDocument(sql, await requireApplication(sql, application_id));
  const shown = `The secret that signs its events, shown only now: ${secret}`;
  const again = `Events that were not delivered: ${undelivered}. event retry --application ${application_id} sends them.`;
  const lines = secret === undefined ? [] : [shown, 'Give it to its developer.'];
  if (undelivered > 0) lines.push(again);
  out.answer({ ...document, ...(secret && { secret, undelivered }) }, done, ...lines);
};

/** On a terminal, prompts whether the application is the removed one with this id. */
const confirmSameOwner = async ({ openDatabase, out }: CommandContext, application_id: string) => {
  if (!isInteractive(out)) return false;
  const sql = await openDatabase();
  if ((await isRegistered(sql, application_id)) || !(await wasRegistered(sql, application_id))) return false;
  out.note(`"${application_id}" was registered before: its games, decisions and events return.`);
  return askYesNo(out, 'Is the owner the same?');
};

const ABOUT_ADD = [
  'Its schedule starts its first run. To start a run now, use sync.',
  'With --paused its schedules wait for app resume, so that game import comes first.',
  'The id of a removed application is given again to the same owner only:',
  'its games return with their decisions, and its events are still there.',
].join(' ');

/** `catalogue app …` */
export const register = (program: Command): void => {
  const app = program.command('app');

  defineCommand(app, 'add', {
    summary: 'register an application',
    details: ABOUT_ADD,
    examples: [
      'app add acme --name "Acme Games" --query-game-list-webhook https://acme.example/list --query-game-detail-webhook https://acme.example/detail --query-cp-kyc-webhook https://acme.example/kyc --access-token-file acme.token',
    ],
    parameters: (command) => {
      addSettings(command, 'add');
      return command
        .argument('<application_id>', NEW_ID, parseApplicationId)
        .option(
          '--same-owner',
          'the owner of a removed application gets its id again, with what came under it',
        )
        .option('--paused', 'no schedule pulls from it until app resume')
        .option(...EVENTS_WEBHOOK)
        .option(...TOKEN_FILE)
        .option(...TOKEN_ENV);
    },
    run: async (context, application_id, options) => {
      // Complete, because each setting is a required option or has a default.
      const settings = toSettings(options) as z.input<typeof applicationSettings>;
      const { eventsWebhook: events_webhook } = options;
      const access_token = await readGivenToken(context, options);
      if (access_token === undefined)
        throw new UsageError('Give its access token with --access-token-file or --access-token-env.');
      await checkWebhooks(context, { ...settings, events_webhook });
      await warnOfInstallationKey(context, application_id);
      const same_owner = options.sameOwner === true || (await confirmSameOwner(context, application_id));
      const { addApplication } = await loadOperations();
      const { paused = false } = options;
      const changed = await context.operate(addApplication, {
        application_id,
        access_token,
        events_webhook,
        same_owner,
        paused,
        ...settings,
      });
      const next = paused
        ? `Its schedules wait for npx catalogue app resume ${application_id}`
        : `Pull its games now: npx catalogue sync ${application_id} --wait`;
      await answerChange(context, application_id, changed, `Registered ${application_id}. ${next}`);
    },
  });

  defineCommand(app, 'update', {
    summary: 'change settings of an application',
    details:
      'A webhook at a new origin (scheme, host, port) requires the access token: it is sent only to the origins that it was given for. --events-webhook makes a new secret, which is shown once. --volatile-parameter replaces the names that were set before.',
    examples: [
      'app update acme --every 1h --rate 20',
      'app update acme --access-token-file new.token',
      'app update acme --events-webhook https://acme.example/events',
      'app update acme --volatile-parameter t session',
    ],
    parameters: (command) => {
      addSettings(command, 'update');
      return command
        .argument(...APPLICATION)
        .option(...EVENTS_WEBHOOK)
        .option('--no-events-webhook', 'send its events nowhere; it can still pull them')
        .option(...TOKEN_FILE)
        .option(...TOKEN_ENV);
    },
    run: async (context, application_id, options) => {
      const settings = toSettings(options);
      const { eventsWebhook } = options;
      const events_webhook = eventsWebhook === false ? null : eventsWebhook;
      const access_token = await readGivenToken(context, options);
      await checkWebhooks(context, { ...settings, events_webhook });
      if (access_token !== undefined) await warnOfInstallationKey(context, application_id);
      const changes = { application_id, access_token, events_webhook, ...settings };
      const { changeApplication } = await loadOperations();
      const changed = await context.operate(changeApplication, changes);
      await answerChange(context, application_id, changed, `Changed ${application_id}.`);
    },
  });

  defineListCommand(app, 'list', applicationList, {
    summary: 'list the applications, with the outcome of their latest run',
    examples: ['app list', 'app list --outcome failed', 'app list --search mizu --sort -last_run_at'],
    newest: '-created_at',
    limit: { max: 100_000, byDefault: 1_000 },
  });

  defineCommand(app, 'show', {
    summary: 'show one application',
    examples: ['app show acme'],
    parameters: (command) => command.argument(...APPLICATION),
    run: async ({ openDatabase, out }, application_id) => {
      const sql = await openDatabase();
      out.record(await readApplicationDocument(sql, await requireApplication(sql, application_id)));
    },
  });

  defineCommand(app, 'pause', {
    summary: 'stop its schedules; an open run finishes',
    examples: ['app pause acme'],
    parameters: (command) => command.argument(...APPLICATION),
    run: (context, application_id) => setStatus(context, 'pause', application_id),
  });

  defineCommand(app, 'resume', {
    summary: 'start its schedules again',
    details:
      'With --all, it resumes each application that is paused or delayed because its runs failed, as after an outage of the fleet. An application that an operator has paused stays paused.',
    examples: ['app resume acme', 'app resume --all'],
    parameters: (command) =>
      command
        .argument('[application_id]', 'the application', parseApplicationId)
        .option('--all', 'every application that is paused or delayed because its runs failed'),
    run: async (context, application_id, { all }) => {
      if ((application_id === undefined) === (all === undefined))
        throw new UsageError('Name one application, or use --all.');
      if (application_id !== undefined) return setStatus(context, 'resume', application_id);
      const { resumeFailingApplications } = await import('#src/operations/failing-applications.ts');
      const { application_ids } = await context.operate(resumeFailingApplications, {});
      const done = `Applications resumed: ${application_ids.length}.`;
      context.out.answer({ application_ids, status: 'active' }, done);
    },
  });
  defineChecks(app);
  defineExport(app);

  defineListCommand(app, 'unverified', unverifiedList, {
    summary: 'list the applications with live games and without the verdict that games need',
    details: 'With GAMES_NEED_VERDICT=true: the verdict has ended, or games were passed before the setting.',
    examples: ['app unverified'],
    limit: { max: 10_000, byDefault: 100 },
  });

  defineHolds(app);

  defineCommand(app, 'remove', {
    summary: 'remove an application',
    details:
      'Deletes its access token, withdraws its games and revokes its API tokens. Games, revisions and decisions stay readable.',
    examples: ['app remove acme', 'app remove acme --yes'],
    parameters: (command) =>
      command.argument(...APPLICATION).option('--yes', 'do not request confirmation on a terminal'),
    run: async ({ openDatabase, operate, out }, application_id, { yes }) => {
      const { name } = await requireApplication(await openDatabase(), application_id);
      const question = `Remove ${name} (${application_id}), withdraw its games and revoke its API tokens? Type its id to confirm: `;
      if (yes !== true && isInteractive(out)) {
        using prompt = openPrompt(out);
        if ((await prompt.ask(question)) !== application_id)
          throw new CatalogueError(`${application_id} was not removed.`);
      }
      const { removeApplication } = await import('#src/operations/remove-application.ts');
      const removed = await operate(removeApplication, { application_id });
      out.answer(removed, `Removed ${application_id}. Its games are withdrawn and its API tokens revoked.`);
    },
  });
};
