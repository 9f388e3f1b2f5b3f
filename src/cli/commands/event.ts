import type { Command } from '@commander-js/extra-typings';
import { findEvent } from '#db/queries/event-list.ts';
import type { EventWebhook } from '#db/queries/event-webhooks.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import { formatCount } from '#src/cli/kit/format.ts';
import { defineListCommand } from '#src/cli/kit/list-command.ts';
import { APPLICATION, variadic } from '#src/cli/kit/parsers.ts';
import { parseShortId, requireId } from '#src/cli/kit/short-id.ts';
import { NotFoundError, UsageError } from '#src/errors.ts';
import { eventAddressList, eventList, toEventDocument } from '#src/lists/events.ts';
import { retryEvents, rotateEventSecret } from '#src/operations/events.ts';

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
      if (found === undefined) throw new NotFoundError('event', prefix);
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
    run: async ({ openDatabase, operate, out }, prefixes = [], { application }) => {
      if ((application === undefined) === (prefixes.length === 0))
        throw new UsageError('Name events, or an application with --application.');
      const sql = await openDatabase();
      const event_ids = await Promise.all(prefixes.map((prefix) => requireId(sql, 'events', prefix)));
      const owners = await Promise.all(
        event_ids.map(async (id) => (await findEvent(sql, id))?.application_id ?? ''),
      );
      const failing: EventWebhook[] = [];
      const switched_on: string[] = [];
      let events = 0;
      for (const application_id of application === undefined ? new Set(owners) : [application]) {
        const own = event_ids.filter((_, index) => owners[index] === application_id);
        const named = application === undefined ? own : undefined;
        const retried = await operate(retryEvents, { application_id, event_ids: named });
        events += retried.events;
        if (retried.switched_on) switched_on.push(application_id);
        else if (retried.address.failures > 0) failing.push(retried.address);
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
    run: async ({ operate, out }, application_id) => {
      const rotated = await operate(rotateEventSecret, { application_id });
      out.answer(
        rotated,
        `The new secret, shown only now: ${rotated.secret}`,
        'The former one signs too for 24 hours.',
      );
    },
  });
};
