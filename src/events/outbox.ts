/** The events to send to a receiver: an application's deliveries, or those after a subscription's position in the stream. */
import type { Database, Queryable } from '#db/client.ts';
import {
  type AttemptResult,
  type ClaimedDelivery,
  claimDeliveries,
  failDeliveries,
  recordAttempts,
  releaseDeliveries,
} from '#db/queries/event-deliveries.ts';
import { findSendingAddress } from '#db/queries/event-webhooks.ts';
import type { Receiver } from '#db/queries/receivers.ts';
import { readStream, type StreamPage } from '#db/queries/stream.ts';
import { advanceSubscription, findSendingSubscription } from '#db/queries/subscriptions.ts';
import { type FormatAuditTime, toEventDocument, toStreamDocument } from '#src/events/document.ts';
import { DELIVERY, nextDeliveryMs } from '#src/rules/deliveries.ts';
import type { EventAddress, SealedEventSecrets } from '#src/sealing/event-secret.ts';

/** Longer than a call may take. Afterwards another worker sends the event. */
const LEASE_MS = 60_000;

/** One attempt to send an event. `error` is null if it was delivered. */
export type Attempt = {
  event_id: string;
  status: number | null;
  error: string | null;
  retryAfterMs?: number | undefined;
};

/** Where the events go. `is_due`: may an event be sent now? */
export type SendingAddress = EventAddress & SealedEventSecrets & { failures: number; is_due: boolean };

export type Outbox = {
  receiver: Receiver;
  /** Most events that are sent at once. */
  atOnce: number;
  findAddress: () => Promise<SendingAddress | undefined>;
  /**
   * Takes the next events, at most `limit`.
   * @returns their documents, perhaps none of them while more events follow; undefined at the end
   */
  claim: (limit: number) => Promise<{ event_id: string; document: object }[] | undefined>;
  /** Releases claimed events whose attempt was cancelled. */
  release: (event_ids: readonly string[]) => Promise<void>;
  /** Records attempts of claimed events. @returns false if the address failed, so that the next attempt is delayed */
  record: (tx: Queryable, attempts: readonly Attempt[]) => Promise<boolean>;
  /** The operations after a failure of the address, and after it was switched off. */
  onFailure: (tx: Queryable, error: string) => Promise<void>;
};

/** Each event of an application has its own attempts, and ends as failed after 24 hours. */
const createApplicationOutbox = (
  sql: Database,
  application_id: string,
  formatAuditTime: FormatAuditTime,
): Outbox => {
  let claimed = new Map<string, ClaimedDelivery>();
  return {
    receiver: { application_id },
    atOnce: 4,
    findAddress: () => findSendingAddress(sql, application_id),
    claim: async (limit) => {
      const events = await claimDeliveries(sql, application_id, limit, LEASE_MS);
      if (events.length === 0) return undefined;
      claimed = new Map(events.map((event) => [event.event_id, event]));
      return events.map((event) => ({
        event_id: event.event_id,
        document: toEventDocument(event, formatAuditTime),
      }));
    },
    release: (event_ids) => releaseDeliveries(sql, event_ids),
    record: async (tx, attempts) => {
      const results = attempts.map(({ event_id, status, error, retryAfterMs }): AttemptResult => {
        const { attempts: made = 1, age_ms: ageMs = 0 } = claimed.get(event_id) ?? {};
        const waitMs = nextDeliveryMs({ attempts: made, ageMs, retryAfterMs }, Math.random());
        return { event_id, status, error, wait_ms: error === null ? null : (waitMs ?? null) };
      });
      await recordAttempts(tx, results);
      return attempts.some(({ error }) => error === null);
    },
    onFailure: (tx, error) => failDeliveries(tx, application_id, error, DELIVERY.lifetimeMs),
  };
};

/** The first events of a page that may be sent at once: one of each game, or a single event of no game. */
const beginningOf = ({ list, next }: StreamPage): StreamPage => {
  const games = list.map(({ game_id }) => game_id);
  const end = games.findIndex(
    (game_id, n) => n > 0 && (game_id === null || games[0] === null || games.indexOf(game_id) < n),
  );
  return end === -1 ? { list, next } : { list: list.slice(0, end), next: list[end - 1]?.position ?? next };
};

/**
 * A subscription receives the events of a game in order, and none is given up, so its position stays before the first event
 * that failed. Later events of other games that were delivered are sent again.
 */
const createSubscriptionOutbox = (
  sql: Database,
  subscription_id: string,
  formatAuditTime: FormatAuditTime,
): Outbox => {
  let address: Awaited<ReturnType<typeof findSendingSubscription>>;
  let page: StreamPage = { list: [], next: 0 };
  return {
    receiver: { subscription_id },
    atOnce: 16,
    findAddress: async () => {
      address = await findSendingSubscription(sql, subscription_id);
      return address;
    },
    claim: async (limit) => {
      const { types = [], position = 0 } = address ?? {};
      page = beginningOf(await readStream(sql, { after: position, limit, types }));
      if (page.next === position) return undefined;
      // Its position is also past events of other types.
      if (page.list.length === 0) await advanceSubscription(sql, subscription_id, page.next);
      return page.list.map((event) => ({
        event_id: event.event_id,
        document: toStreamDocument(event, formatAuditTime),
      }));
    },
    release: async () => {},
    record: async (tx, attempts) => {
      const delivered = new Set(attempts.flatMap(({ event_id, error }) => (error === null ? event_id : [])));
      const failed = page.list.findIndex(({ event_id }) => !delivered.has(event_id));
      const upTo = failed === -1 ? page.next : page.list[failed - 1]?.position;
      // If the first event was cancelled, its address has not failed.
      if (upTo === undefined) return attempts.every(({ error }) => error === null);
      await advanceSubscription(tx, subscription_id, upTo);
      return true;
    },
    onFailure: async () => {},
  };
};

export const createOutbox = (sql: Database, receiver: Receiver, formatAuditTime: FormatAuditTime): Outbox =>
  'application_id' in receiver
    ? createApplicationOutbox(sql, receiver.application_id, formatAuditTime)
    : createSubscriptionOutbox(sql, receiver.subscription_id, formatAuditTime);
