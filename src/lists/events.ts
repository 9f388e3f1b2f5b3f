import { z } from 'zod';
import { EVENT_STATES, type EventItem, listEventPage } from '#db/queries/event-list.ts';
import {
  ADDRESS_CONDITIONS,
  ADDRESS_SORTS,
  type EventWebhook,
  listEventWebhookPage,
} from '#db/queries/event-webhooks.ts';
import { listSubscriptionPage, SUBSCRIPTION_SORTS } from '#db/queries/subscriptions.ts';
import { count, time } from '#src/contract/documents.ts';
import { EVENT_TYPES, EVENT_WEBHOOK_STATUSES, STREAM_TYPES } from '#src/contract/words.ts';
import { APPLICATION } from '#src/lists/columns.ts';
import { choice, onlyApplication, since } from '#src/lists/filters.ts';
import { defineList } from '#src/lists/list.ts';

const stateOf = ({ state }: EventItem): string => state ?? 'pulled';

const resultOf = ({ last_status, last_error }: EventItem): string | null =>
  last_status === null ? last_error : `HTTP ${last_status}`;

/** An event with its delivery in JSON, `data` last. */
export const toDeliveryDocument = ({ data, ...event }: EventItem) => ({
  ...event,
  state: event.state ?? 'pulled',
  data,
});

/** The events of applications with their deliveries. `/operator-api/event/list` is the stream (src/contract/stream.ts). */
export const deliveryList = defineList({
  name: 'event.deliveries',
  nouns: ['event', 'events'],
  right: 'view',
  row: z.object({
    event_id: z.guid(),
    application_id: z.string(),
    type: z.enum(EVENT_TYPES),
    game_id: z.guid(),
    created_at: time,
    state: z.enum(EVENT_STATES),
    attempts: count.nullable(),
    last_attempt_at: time.nullable(),
    last_status: z.int().nullable(),
    last_error: z.string().nullable(),
    delivered_at: time.nullable(),
    next_attempt_at: time.nullable(),
    data: z.record(z.string(), z.unknown()),
  }),
  filter: z.object({
    application_id: onlyApplication(),
    type: choice(EVENT_TYPES, { name: 'type', title: 'Event', description: 'only events of this type' }),
    state: choice(EVENT_STATES, {
      name: 'state',
      title: 'Delivery',
      description: 'only deliveries in this state',
    }),
    since: since(),
  }),
  sorts: ['created_at'],
  order: '-created_at',
  columns: [
    {
      key: 'ago',
      title: 'When',
      kind: 'age',
      value: (row) => row.created_at,
      sort: 'created_at',
      on: 'terminal',
    },
    { ...APPLICATION, key: 'application', on: 'terminal' },
    { key: 'type', title: 'Event', kind: 'status' },
    {
      key: 'game',
      value: ({ data }) => data.game_name,
      link: ({ application_id, type, game_id, data: { application_game_id } }) =>
        type === 'webhook.test'
          ? null
          : { to: 'application_game', application_id, application_game_id, game_id },
    },
    { key: 'state', title: 'Delivery', kind: 'status', value: stateOf },
    { key: 'result', value: resultOf, on: 'terminal' },
    { key: 'event_id', kind: 'id', width: 'wider' },
  ],
  empty: 'No event yet: the status of no game has changed.',
  noMatch: 'No event matches.',
  document: toDeliveryDocument,
  read: listEventPage,
});

const condition = choice(ADDRESS_CONDITIONS, {
  name: 'status',
  title: 'State',
  description: 'only addresses in this state; trouble: off, or failing for more than an hour',
});

type Health = Pick<
  EventWebhook,
  'status' | 'failing_since' | 'off_reason' | 'last_error' | 'last_success_at'
>;

/** How well the events arrive. */
const HEALTH = [
  {
    key: 'status',
    title: 'State',
    kind: 'status',
    value: ({ status, failing_since }: Health) =>
      status === 'active' && failing_since !== null ? 'failing' : status,
  },
  { key: 'why', value: ({ off_reason, last_error }: Health) => off_reason ?? last_error },
  { key: 'failing_since', kind: 'age', sort: 'failing_since', width: 'medium' },
  { key: 'last_success', kind: 'age', value: (row: Health) => row.last_success_at, width: 'medium' },
] as const;

const address = z.object({
  url: z.string(),
  status: z.enum(EVENT_WEBHOOK_STATUSES),
  off_reason: z.string().nullable(),
  off_at: time.nullable(),
  failures: count,
  failing_since: time.nullable(),
  next_attempt_at: time.nullable(),
  last_attempt_at: time.nullable(),
  last_success_at: time.nullable(),
  last_error: z.string().nullable(),
  created_at: time,
});

/** Where the events of applications are sent, with the health of each address. */
export const eventAddressList = defineList({
  name: 'event.addresses',
  nouns: ['address', 'addresses'],
  right: 'view',
  row: address.extend({
    application_id: z.string(),
    application_name: z.string(),
    former_until: time.nullable(),
  }),
  filter: z.object({
    application_id: onlyApplication(),
    status: condition,
  }),
  sorts: ADDRESS_SORTS,
  order: 'application_id',
  columns: [
    { ...APPLICATION, label: ({ application_name }) => application_name, sort: 'application_id' },
    { key: 'url', title: 'Address', kind: 'id', width: 'wide' },
    ...HEALTH,
  ],
  empty: 'No application has an address for events.',
  noMatch: 'No address matches.',
  read: listEventWebhookPage,
});

/** Where the platform's stream is sent. */
export const subscriptionList = defineList({
  name: 'event.subscriptions',
  nouns: ['subscription', 'subscriptions'],
  right: 'view',
  row: address.extend({
    subscription_id: z.guid(),
    former_until: time.nullable(),
    types: z.array(z.enum(STREAM_TYPES)).describe('[]: all.'),
    position: count,
    waiting: count.describe('Events after its position, counted up to 10,000.'),
  }),
  filter: z.object({ status: condition }),
  sorts: SUBSCRIPTION_SORTS,
  order: 'created_at',
  columns: [
    { key: 'subscription_id', title: 'Subscription', kind: 'id' },
    { key: 'url', title: 'Address', kind: 'id' },
    { key: 'types', value: ({ types }) => types.join(', ') || 'all', width: 'wider' },
    ...HEALTH,
    { key: 'waiting', kind: 'number', width: 'medium' },
    { key: 'since', kind: 'age', value: (row) => row.created_at, sort: 'created_at', width: 'wide' },
  ],
  empty: 'The stream is sent nowhere.',
  noMatch: 'No subscription matches.',
  read: listSubscriptionPage,
});
