import type { Command } from '@commander-js/extra-typings';
import type { Database } from '#db/client.ts';
import type { ApplicationSettings } from '#db/queries/applications.ts';
import {
  changeApplication,
  dropApplication,
  registerApplication,
  resumeFailingApplications,
  switchApplication,
} from '#src/actions/applications.ts';
import { removeEventWebhook, setEventWebhook } from '#src/actions/event-webhooks.ts';
import { defineCheck } from '#src/cli/commands/app-check.ts';
import { readApplicationDocument } from '#src/cli/commands/app-document.ts';
import { defineAppList } from '#src/cli/commands/app-list.ts';
import { addSettings, checkWebhooks, toSettings } from '#src/cli/commands/app-settings.ts';
import {
  readGivenToken,
  resealKeptToken,
  sealToken,
  TOKEN_ENV,
  TOKEN_FILE,
} from '#src/cli/commands/given-access-token.ts';
import { commandLineActor } from '#src/cli/kit/actor.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import type { CommandContext } from '#src/cli/kit/context.ts';
import { APPLICATION, parseApplicationId } from '#src/cli/kit/parsers.ts';
import { isInteractive, openPrompt } from '#src/cli/kit/prompt.ts';
import { requireApplication } from '#src/cli/kit/require-application.ts';
import { CatalogueError, UsageError } from '#src/errors.ts';

const NEW_ID = 'a short id that you choose: a-z, 0-9 and "-"';

const setStatus = async (
  { openDatabase, out }: CommandContext,
  application_id: string,
  status: 'active' | 'paused',
): Promise<void> => {
  const sql = await openDatabase();
  await requireApplication(sql, application_id);
  await switchApplication(sql, commandLineActor(), application_id, status);
  out.answer({ application_id, status }, `${application_id} is ${status}.`);
};

const EVENTS_WEBHOOK = ['--events-webhook <url>', 'URL that its events are sent to', String] as const;

/** Sets where its events are sent. @returns the new secret, to be shown once */
const giveEventWebhook = async (
  { openKeys }: CommandContext,
  sql: Database,
  address: { application_id: string; url: string },
): Promise<string> => {
  const { sealNewEventSecret } = await import('#src/sealing/event-secret.ts');
  const { secret, sealed } = await sealNewEventSecret(await openKeys(), address);
  if (await setEventWebhook(sql, commandLineActor(), { ...address, ...sealed })) return secret;
  throw new CatalogueError(`${address.application_id} was removed meanwhile.`);
};

/** The last step of add and update: sets the address of its events, if one is given, and prints the application. */
const answerChange = async (
  context: CommandContext,
  sql: Database,
  { application_id, url }: { application_id: string; url: string | false | undefined },
  done: string,
): Promise<void> => {
  const secret = url ? await giveEventWebhook(context, sql, { application_id, url }) : undefined;
  const document = await readApplicationDocument(sql, await requireApplication(sql, application_id));
  const shown = `The secret that signs its events, shown only now: ${secret}`;
  const lines = secret === undefined ? [] : [shown, 'Give it to its developer.'];
  context.out.answer({ ...document, ...(secret && { secret }) }, done, ...lines);
};

/** `catalogue app …` */
export const register = (program: Command): void => {
  const app = program.command('app');

  defineCommand(app, 'add', {
    summary: 'register an application',
    details: 'Its schedule starts its first run. To start a run now, use sync.',
    examples: [
      'app add acme --name "Acme Games" --query-game-list-webhook https://acme.example/list --query-game-detail-webhook https://acme.example/detail --query-cp-kyc-webhook https://acme.example/kyc --access-token-file acme.token',
    ],
    parameters: (command) => {
      addSettings(command, 'add');
      return command
        .argument('<application_id>', NEW_ID, parseApplicationId)
        .option(...EVENTS_WEBHOOK)
        .option(...TOKEN_FILE)
        .option(...TOKEN_ENV);
    },
    run: async (context, application_id, options) => {
      // Complete: each setting is a required option or has a default.
      const settings = toSettings(options) as ApplicationSettings;
      const token = await readGivenToken(context, options);
      if (token === undefined)
        throw new UsageError('Give its access token with --access-token-file or --access-token-env.');
      await checkWebhooks(context, { ...settings, events_webhook: options.eventsWebhook });
      const sealed = await sealToken(context, { application_id, ...settings }, token);
      const sql = await context.openDatabase();
      if (!(await registerApplication(sql, commandLineActor(), application_id, settings, sealed)))
        throw new UsageError(
          `"${application_id}" is already registered: change it with app update, or choose another id.`,
        );
      const done = `Registered ${application_id}. Pull its games now: npx catalogue sync ${application_id} --wait`;
      await answerChange(context, sql, { application_id, url: options.eventsWebhook }, done);
    },
  });

  defineCommand(app, 'update', {
    summary: 'change settings of an application',
    details:
      'A webhook at a new origin (scheme, host, port) requires the access token: it is sent only to the origins that it was given for. --events-webhook makes a new secret, which is shown once.',
    examples: [
      'app update acme --every 1h --rate 20',
      'app update acme --access-token-file new.token',
      'app update acme --events-webhook https://acme.example/events',
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
      const token = await readGivenToken(context, options);
      const hasSettings = Object.keys(settings).length > 0 || token !== undefined;
      if (!hasSettings && eventsWebhook === undefined)
        throw new UsageError('Give at least one setting: npx catalogue app update --help lists them.');
      await checkWebhooks(context, { ...settings, events_webhook: eventsWebhook || undefined });
      const sql = await context.openDatabase();
      let before = await requireApplication(sql, application_id);
      const change = async (): Promise<boolean> => {
        const after = { ...before, ...settings };
        const sealed = await (token === undefined
          ? resealKeptToken(context, before, after)
          : sealToken(context, after, token));
        return changeApplication(sql, commandLineActor(), before, { ...settings, ...sealed });
      };
      // A token is sealed for the webhooks that were read: if another command changed them, this one starts again.
      while (hasSettings && !(await change())) before = await requireApplication(sql, application_id);
      if (eventsWebhook === false) await removeEventWebhook(sql, commandLineActor(), application_id);
      await answerChange(context, sql, { application_id, url: eventsWebhook }, `Changed ${application_id}.`);
    },
  });

  defineAppList(app);

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
    run: (context, application_id) => setStatus(context, application_id, 'paused'),
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
      if (application_id !== undefined) return setStatus(context, application_id, 'active');
      const application_ids = await resumeFailingApplications(
        await context.openDatabase(),
        commandLineActor(),
      );
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
    examples: ['app remove acme', 'app remove acme --yes'],
    parameters: (command) =>
      command.argument(...APPLICATION).option('--yes', 'do not ask for confirmation on a terminal'),
    run: async ({ openDatabase, out }, application_id, { yes }) => {
      const sql = await openDatabase();
      const { name } = await requireApplication(sql, application_id);
      const question = `Remove ${name} (${application_id}), withdraw its games and revoke its API tokens? Type its id to confirm: `;
      if (yes !== true && isInteractive(out)) {
        using prompt = openPrompt(out);
        if ((await prompt.ask(question)) !== application_id)
          throw new CatalogueError(`${application_id} was not removed.`);
      }
      await dropApplication(sql, commandLineActor(), application_id);
      out.answer(
        { application_id, status: 'removed' },
        `Removed ${application_id}. Its games are withdrawn and its API tokens revoked.`,
      );
    },
  });
};
