import { type Command, Option } from '@commander-js/extra-typings';
import { findEvent } from '#db/queries/event-list.ts';
import type { EventWebhook } from '#db/queries/event-webhooks.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import { formatAge, formatCount } from '#src/cli/kit/format.ts';
import { defineListCommand } from '#src/cli/kit/list-command.ts';
import type { Column } from '#src/cli/kit/output.ts';
import { APPLICATION, integerUpTo, parseMoment, variadic } from '#src/cli/kit/parsers.ts';
import { parseShortId, requireId } from '#src/cli/kit/short-id.ts';
import { STREAM_MAX, type StreamDocument, streamRequestSchema } from '#src/contract/stream.ts';
import { STREAM_TYPES } from '#src/contract/words.ts';
import { NotFoundError, UsageError } from '#src/errors.ts';
import { listStream } from '#src/events/read-stream.ts';
import { deliveryList, eventAddressList, subscriptionList, toDeliveryDocument } from '#src/lists/events.ts';
import {
  retryEvents,
  rotateEventSecret,
  rotateSubscriptionSecret,
  sendTestEvent,
} from '#src/operations/events.ts';
import { checkInput } from '#src/operations/operate.ts';
import { resumeSubscription, subscribe, unsubscribe } from '#src/operations/subscriptions.ts';
import { createAuditTimeFormatter } from '#src/rules/audit-time.ts';

const explainFirst = ({ application_id, failures, last_error }: EventWebhook): string =>
  `The address of ${application_id} failed ${formatCount(failures, 'time')} (${last_error}): one event is sent first, the others follow when it is delivered.`;

const TYPE = new Option('--type <type...>', 'only events of these types').choices(STREAM_TYPES);
const SUBSCRIPTION = [
  '<subscription_id>',
  'the subscription; its id may be cut short',
  parseShortId,
] as const;

const STREAM_COLUMNS: Column<StreamDocument>[] = [
  ['ago', ({ timestamp }) => formatAge(new Date(timestamp))],
  ['application', ({ data }) => data.application_id],
  'type',
  ['about', ({ data }) => data.game_name ?? data.application_game_id ?? data.run_id ?? data.state],
  ['revision', ({ data }) => data.revision],
  'event_id',
];

/** `catalogue event …` */
export const register = (program: Command): void => {
  const event = program.command('event');

  defineCommand(event, 'list', {
    summary: "read the platform's stream: the events of all applications, in their order",
    details:
      'Begins with the oldest event that is kept, 90 days. The last line says where the next read continues. --after latest shows no event, only where the next one follows.',
    examples: [
      'event list',
      'event list --after 1042 --type game.received --type game.changed',
      'event list --json',
    ],
    parameters: (command) =>
      command
        .option('--after <place>', 'continue where "next:" says', '')
        .addOption(TYPE)
        .option('--limit <rows>', 'maximum number of events', integerUpTo(STREAM_MAX), 100),
    run: async ({ config, openDatabase, out }, { after, limit, type: types = [] }) => {
      const request = checkInput(streamRequestSchema, { after, limit, types });
      const format = createAuditTimeFormatter(config.auditTimeZone);
      const { list, next } = await listStream(await openDatabase(), request, format);
      out.list({ list, next }, list, STREAM_COLUMNS, 'No event follows.');
      const words = ['--after', next, ...types.flatMap((each) => ['--type', each])];
      out.line(`next: npx catalogue event list ${words.join(' ')}`);
    },
  });

  defineCommand(event, 'subscribe', {
    summary: "send the platform's stream to an address",
    details:
      'From now on, signed as Standard Webhooks say. The secret is shown once. An event is sent until it is delivered, those of a game in order; an address that has failed for three days is switched off.',
    examples: [
      'event subscribe --url https://catalogue.example/events',
      'event subscribe --url https://chat.example/hook --type run.suspect --type application.paused',
    ],
    parameters: (command) =>
      command.requiredOption('--url <url>', 'where the events are sent').addOption(TYPE),
    run: async ({ operate, out }, { url, type: types = [] }) => {
      const made = await operate(subscribe, { url, types });
      out.answer(
        made,
        `${made.subscription_id}: the stream is sent to ${url}.`,
        `The secret that signs it, shown only now: ${made.secret}`,
      );
    },
  });

  defineListCommand(event, 'subscriptions', subscriptionList, {
    summary: "list where the platform's stream is sent, with the health of each address",
    examples: ['event subscriptions', 'event subscriptions --status trouble --json'],
    limit: { max: 100, byDefault: 100 },
  });

  defineCommand(event, 'resume', {
    summary: 'send the stream again to an address that failed or was switched off',
    details: 'From where it stopped: no event is left out.',
    examples: ['event resume 019a2b3c-4d5e'],
    parameters: (command) => command.argument(...SUBSCRIPTION),
    run: async ({ openDatabase, operate, out }, prefix) => {
      const subscription_id = await requireId(await openDatabase(), 'event_subscriptions', prefix);
      const resumed = await operate(resumeSubscription, { subscription_id });
      out.answer(resumed, `The stream is sent to ${resumed.url} again.`);
    },
  });

  defineCommand(event, 'unsubscribe', {
    summary: "stop sending the platform's stream to an address",
    examples: ['event unsubscribe 019a2b3c-4d5e'],
    parameters: (command) => command.argument(...SUBSCRIPTION),
    run: async ({ openDatabase, operate, out }, prefix) => {
      const subscription_id = await requireId(await openDatabase(), 'event_subscriptions', prefix);
      const ended = await operate(unsubscribe, { subscription_id });
      out.answer(ended, `The stream is no longer sent to ${ended.url}.`);
    },
  });

  defineListCommand(event, 'deliveries', deliveryList, {
    summary: 'list the events of applications and their deliveries, latest first',
    details:
      'State "pulled": the application had no address when it happened, so the event is only in event/list.',
    examples: ['event deliveries', 'event deliveries acme --state failed', 'event deliveries acme --json'],
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
      const { data, ...fields } = toDeliveryDocument(found);
      out.record({ ...fields, data }, { ...fields, ...data });
    },
  });

  defineCommand(event, 'retry', {
    summary: 'send events now, for another 24 hours',
    details:
      'With --application, every event since the first address was set that is not delivered. Does not wait for the next attempt of a pending event, nor for the delay of an address that failed. An address that was switched off is switched on.',
    examples: ['event retry 019a2b3c-4d5e', 'event retry --application acme'],
    parameters: (command) =>
      command
        .argument('[event_id...]', 'the events', variadic(parseShortId))
        .option(
          '--application <application_id>',
          'all events of this application that are not delivered',
          APPLICATION[2],
        )
        .option(
          '--since <time>',
          'with --application: every event since then, delivered ones too; local, if it names no zone',
          parseMoment,
        ),
    run: async ({ openDatabase, operate, out }, prefixes = [], { application, since }) => {
      if ((application === undefined) === (prefixes.length === 0))
        throw new UsageError('Name events, or an application with --application.');
      if (since !== undefined && application === undefined)
        throw new UsageError('Give --since with --application.');
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
        const retried = await operate(retryEvents, {
          application_id,
          event_ids: named,
          since: since?.toISOString(),
        });
        events += retried.events;
        if (retried.switched_on) switched_on.push(application_id);
        else if (retried.address.failures > 0) failing.push(retried.address);
      }
      const on = switched_on.length === 0 ? [] : [`Switched on again: ${switched_on.join(', ')}.`];
      const first = events < 2 ? [] : failing.map(explainFirst);
      const all = 'Every event since the first address was set is delivered.';
      const none = since === undefined ? all : 'There is no event since then.';
      const now = `${formatCount(events, 'event')} ${events === 1 ? 'is' : 'are'} sent now.`;
      const sent = events === 0 ? none : now;
      out.answer({ events, switched_on }, sent, ...first, ...on);
    },
  });

  defineCommand(event, 'test', {
    summary: 'send a test event to the address of an application',
    details:
      'It has the form of every event, and is about no game. An address that was switched off is switched on; the answer says how many events were not delivered, which event retry sends.',
    examples: ['event test acme'],
    parameters: (command) => command.argument(...APPLICATION),
    run: async ({ operate, out }, application_id) => {
      const sent = await operate(sendTestEvent, { application_id });
      const again = `Events that were not delivered: ${sent.undelivered}. event retry --application ${application_id} sends them.`;
      const shown = `It is sent now: see event show ${sent.event_id}.`;
      out.answer(sent, shown, ...(sent.undelivered > 0 ? [again] : []));
    },
  });

  const secret = event
    .command('secret')
    .summary('secrets that sign events')
    .description('secrets that sign events');
  defineCommand(secret, 'rotate', {
    summary: 'replace the secret that signs the events of an application, or of a subscription',
    details: 'The new secret is shown once. For 24 hours each event is signed with both.',
    examples: ['event secret rotate acme', 'event secret rotate --subscription 019a2b3c-4d5e --json'],
    parameters: (command) =>
      command
        .argument('[application_id]', APPLICATION[1], APPLICATION[2])
        .option('--subscription <subscription_id>', SUBSCRIPTION[1], SUBSCRIPTION[2])
        .option('--former-until <time>', 'ends the former secret that signs until then'),
    run: async ({ openDatabase, operate, out }, application_id, { subscription, formerUntil }) => {
      if ((application_id === undefined) === (subscription === undefined))
        throw new UsageError('Name an application, or a subscription with --subscription.');
      const rotated =
        application_id === undefined
          ? await operate(rotateSubscriptionSecret, {
              subscription_id: await requireId(
                await openDatabase(),
                'event_subscriptions',
                subscription ?? '',
              ),
              former_until: formerUntil,
            })
          : await operate(rotateEventSecret, { application_id, former_until: formerUntil });
      out.answer(
        rotated,
        `The new secret, shown only now: ${rotated.secret}`,
        'The former one signs too for 24 hours.',
      );
    },
  });
};
