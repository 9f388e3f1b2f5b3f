import type { Command } from '@commander-js/extra-typings';
import { findEvent } from '#db/queries/event-list.ts';
import { type EventWebhook, findEventWebhook, findSendingAddress } from '#db/queries/event-webhooks.ts';
import { retryEvents, rotateEventSecret } from '#src/actions/event-webhooks.ts';
import { commandLineActor } from '#src/cli/kit/actor.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import { formatCount } from '#src/cli/kit/format.ts';
import { defineListCommand } from '#src/cli/kit/list-command.ts';
import { APPLICATION, variadic } from '#src/cli/kit/parsers.ts';
import { requireApplication } from '#src/cli/kit/require-application.ts';
import { parseShortId, requireId } from '#src/cli/kit/short-id.ts';
import { CatalogueError, UsageError } from '#src/errors.ts';
import { eventAddressList, eventList, toEventDocument } from '#src/lists/events.ts';

const noAddress = (application_id: string): UsageError =>
  new UsageError(
    `${application_id} has no address for events. Set one: npx catalogue app update ${application_id} --events-webhook URL`,
  );

const explainFirst = ({ application_id, failures, last_error }: EventWebhook): string =>
  `The address of ${application_id} failed ${formatCount(failures, 'time')} (${last_error}): one event is sent first, the others follow when it is delivered.`;

/** `catalogue event …` */
export const register = (program: Command): void => {
  const event = program.command('event');

  defineListCommand(event, 'list', eventList, {
    summary: 'list events and their deliveries, latest first',
    details:
      'State "pulled": the application had no address when it happened, so the event is only in event/list.',
    examples: ['event list', 'event list acme --state failed', 'event list acme --json'],
    limit: { max: 10_000, byDefault: 100 },
  });

  defineListCommand(event, 'addresses', eventAddressList, {
    summary: 'list where the events of applications are sent, with the health of each address',
    examples: ['event addresses', 'event addresses --status trouble'],
    limit: { max: 100_000, byDefault: 1_000 },
  });

  defineCommand(event, 'show', {
    summary: 'show one event and its delivery',
    examples: ['event show 019a2b3c-4d5e'],
    parameters: (command) =>
      command.argument('<event_id>', 'the event; its id may be cut short', parseShortId),
    run: async ({ openDatabase, out }, prefix) => {
      const sql = await openDatabase();
      const found = await findEvent(sql, await requireId(sql, 'events', prefix));
      if (found === undefined) throw new UsageError(`There is no event ${prefix}.`);
      const { data, ...fields } = toEventDocument(found);
      out.record({ ...fields, data }, { ...fields, ...data });
    },
  });

  defineCommand(event, 'retry', {
    summary: 'send events now, for another 24 hours',
    details:
      'With --application, every event since the address was set that is not delivered. Does not wait for the next attempt of a pending event, nor for the delay of an address that failed. An address that was switched off is switched on.',
    examples: ['event retry 019a2b3c-4d5e', 'event retry --application acme'],
    parameters: (command) =>
      command
        .argument('[event_id...]', 'the events', variadic(parseShortId))
        .option(
          '--application <application_id>',
          'all events of this application that are not delivered',
          APPLICATION[2],
        ),
    run: async ({ openDatabase, out }, prefixes = [], { application }) => {
      if ((application === undefined) === (prefixes.length === 0))
        throw new UsageError('Name events, or an application with --application.');
      const sql = await openDatabase();
      const actor = commandLineActor();
      const event_ids = await Promise.all(prefixes.map((prefix) => requireId(sql, 'events', prefix)));
      const owners = await Promise.all(
        event_ids.map(async (id) => (await findEvent(sql, id))?.application_id ?? ''),
      );
      const application_ids = application === undefined ? [...new Set(owners)] : [application];
      const failing: EventWebhook[] = [];
      for (const id of application_ids) {
        await requireApplication(sql, id);
        const webhook = await findEventWebhook(sql, id);
        if (webhook === undefined) throw noAddress(id);
        if (webhook.status === 'active' && webhook.failures > 0) failing.push(webhook);
      }
      let events = 0;
      const switched_on: string[] = [];
      for (const id of application_ids) {
        const own = event_ids.filter((_, index) => owners[index] === id);
        const retried = await retryEvents(sql, actor, id, application === undefined ? own : undefined);
        events += retried.events;
        if (retried.switched_on) switched_on.push(id);
      }
      const on = switched_on.length === 0 ? [] : [`Switched on again: ${switched_on.join(', ')}.`];
      const first = events < 2 ? [] : failing.map(explainFirst);
      const sent =
        events === 0
          ? 'Every event since the address was set is delivered.'
          : `${formatCount(events, 'event')} ${events === 1 ? 'is' : 'are'} sent now.`;
      out.answer({ events, switched_on }, sent, ...first, ...on);
    },
  });

  const secret = event
    .command('secret')
    .summary('secrets that sign events')
    .description('secrets that sign events');
  defineCommand(secret, 'rotate', {
    summary: "replace the secret that signs an application's events",
    details: 'The new secret is shown once. For 24 hours each event is signed with both.',
    examples: ['event secret rotate acme', 'event secret rotate acme --json'],
    parameters: (command) => command.argument(...APPLICATION),
    run: async ({ openDatabase, openKeys, out }, application_id) => {
      const sql = await openDatabase();
      await requireApplication(sql, application_id);
      const address = await findSendingAddress(sql, application_id);
      if (address === undefined) throw noAddress(application_id);
      const { rotateSealedSecret } = await import('#src/sealing/event-secret.ts');
      const { secret: shown, sealed } = await rotateSealedSecret(await openKeys(), address);
      const rotated = { application_id, url: address.url, ...sealed };
      if (!(await rotateEventSecret(sql, commandLineActor(), rotated, address.secret)))
        throw new CatalogueError('The secret was changed meanwhile: nothing was changed here.');
      const webhook = await findEventWebhook(sql, application_id);
      out.answer(
        { application_id, secret: shown, former_until: webhook?.former_until },
        `The new secret, shown only now: ${shown}`,
        'The former one signs too for 24 hours.',
      );
    },
  });
};
