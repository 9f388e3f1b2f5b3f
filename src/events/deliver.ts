import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { Webhook } from 'standardwebhooks';
import type { Database, Queryable } from '#db/client.ts';
import {
  type AttemptResult,
  type ClaimedDelivery,
  claimDeliveries,
  recordAddressFailure,
  recordAddressSuccess,
  recordAttempts,
  releaseDeliveries,
} from '#db/queries/event-deliveries.ts';
import { findSendingAddress, postponeNextAttempt } from '#db/queries/event-webhooks.ts';
import { isCallError } from '#src/egress/errors.ts';
import type { HttpPost } from '#src/egress/post.ts';
import { readRetryAfterMs } from '#src/egress/retry-after.ts';
import { toEventDocument } from '#src/events/document.ts';
import { DELIVERY, nextDeliveryMs, probeMs } from '#src/rules/deliveries.ts';
import { isKeyError } from '#src/sealing/errors.ts';
import { type EventAddress, openEventSecrets, type SealedEventSecrets } from '#src/sealing/event-secret.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';

/** Calls to one application at once. */
const AT_ONCE = 4;
/** Longer than a call may take: after it, another worker sends the event. */
const LEASE_MS = 60_000;
/** A job ends after this time, so that applications with many events leave room for others. */
const SLICE_MS = 10_000;
/** Nothing of the response is used; this much is read to keep the connection. */
const RESPONSE_MAX_BYTES = 16_384;
const SECRETS_MAX = 10_000;

const GONE = 410;

export type EventSender = {
  /**
   * Send the events of an application that are due, for up to ten seconds, a few at once; at an address that failed, one.
   * @throws KeyError if its secret does not open here
   */
  deliver: (
    application_id: string,
    signal: AbortSignal,
    log: Logger,
  ) => Promise<{ delivered: number; failed: number }>;
};

type Options = {
  sql: Database;
  keys: KeyRing;
  http: Pick<HttpPost, 'post'>;
  formatAuditTime: (audit_time: Date | null) => string;
  /** Switches an address off that fails, with an entry in the audit log. @returns false if it was off or was replaced */
  switchEventsOff: (
    tx: Queryable,
    address: { application_id: string; url: string },
    reason: string,
  ) => Promise<boolean>;
};

type Attempt = {
  event_id: string;
  status: number | null;
  error: string | null;
  retryAfterMs?: number | undefined;
};

/** Opens secrets. Without this cache every call would ask the key service. */
const createSecretOpener = (keys: KeyRing) => {
  const opened = new LRUCache<string, string[]>({ max: SECRETS_MAX });
  return async (address: EventAddress & SealedEventSecrets): Promise<string[]> => {
    const { application_id, url, secret, former_secret } = address;
    const sealed = [secret, former_secret ?? []].map((bytes) => Buffer.from(bytes).toString('base64'));
    const key = JSON.stringify([application_id, url, ...sealed]);
    const secrets = opened.get(key) ?? (await openEventSecrets(keys, address));
    opened.set(key, secrets);
    return secrets;
  };
};

/** Sends events as Standard Webhooks say: https://www.standardwebhooks.com. Create one per process. */
export const createEventSender = (options: Options): EventSender => {
  const { sql, keys, http, formatAuditTime, switchEventsOff } = options;
  const openSecrets = createSecretOpener(keys);

  const send = async (
    event: ClaimedDelivery,
    { url }: EventAddress,
    secrets: readonly string[],
    signal: AbortSignal,
  ): Promise<Attempt | undefined> => {
    const { event_id } = event;
    const body = JSON.stringify(toEventDocument(event, formatAuditTime));
    const now = new Date();
    const headers = {
      'webhook-id': event_id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(event_id, now, body)).join(' '),
    };
    try {
      const response = await http.post({
        url,
        accessToken: null,
        body,
        headers,
        maxBytes: RESPONSE_MAX_BYTES,
        signal,
      });
      const { status } = response;
      if (status >= 200 && status < 300) return { event_id, status, error: null };
      return { event_id, status, error: 'http_status', retryAfterMs: readRetryAfterMs(response) };
    } catch (error) {
      if (!isCallError(error)) throw error;
      if (error.code === 'aborted') return undefined;
      return { event_id, status: error.status ?? null, error: error.code };
    }
  };

  /** @returns why the address was switched off */
  const record = (
    address: EventAddress & { failures: number },
    claimed: readonly ClaimedDelivery[],
    attempts: readonly Attempt[],
  ): Promise<string | undefined> => {
    const { application_id, url } = address;
    const byId = new Map(claimed.map((each) => [each.event_id, each]));
    const results = attempts.map(({ event_id, status, error, retryAfterMs }): AttemptResult => {
      const { attempts: made = 1, age_ms: ageMs = 0 } = byId.get(event_id) ?? {};
      const waitMs = nextDeliveryMs({ attempts: made, ageMs, retryAfterMs }, Math.random());
      return { event_id, status, error, wait_ms: error === null ? null : (waitMs ?? null) };
    });
    return sql.begin(async (tx) => {
      await recordAttempts(tx, results);
      const gone = attempts.some(({ status }) => status === GONE);
      if (!gone && attempts.some(({ error }) => error === null)) {
        await recordAddressSuccess(tx, application_id);
        return undefined;
      }
      const retryAfterMs = Math.max(...attempts.map((each) => each.retryAfterMs ?? 0));
      const last = attempts.at(-1);
      const failingMs = await recordAddressFailure(tx, application_id, {
        url,
        error: last?.status == null ? (last?.error ?? '') : `HTTP ${last.status}`,
        wait_ms: Math.max(probeMs(address.failures + 1), retryAfterMs),
        silence_ms: DELIVERY.silenceMs,
        lifetime_ms: DELIVERY.lifetimeMs,
      });
      const reason = gone
        ? 'It answered 410 Gone.'
        : failingMs >= DELIVERY.offAfterMs
          ? 'It has failed for three days.'
          : undefined;
      if (reason === undefined || !(await switchEventsOff(tx, address, reason))) return undefined;
      return reason;
    });
  };

  return {
    deliver: async (application_id, signal, log) => {
      const counts = { delivered: 0, failed: 0 };
      const endMs = performance.now() + SLICE_MS;
      while (!signal.aborted && performance.now() < endMs) {
        const address = await findSendingAddress(sql, application_id);
        if (address?.is_due !== true) break;
        const secrets = await openSecrets(address).catch(async (error: unknown) => {
          const code = isKeyError(error) ? error.code : 'internal';
          await postponeNextAttempt(sql, application_id, code, DELIVERY.probeMaxMs);
          throw error;
        });
        const claimed = await claimDeliveries(
          sql,
          application_id,
          address.failures > 0 ? 1 : AT_ONCE,
          LEASE_MS,
        );
        if (claimed.length === 0) break;
        const sent = await Promise.all(claimed.map((event) => send(event, address, secrets, signal)));
        const attempts = sent.filter((attempt) => attempt !== undefined);
        const done = new Set(attempts.map(({ event_id }) => event_id));
        const cancelled = claimed.filter(({ event_id }) => !done.has(event_id));
        if (cancelled.length > 0)
          await releaseDeliveries(
            sql,
            cancelled.map(({ event_id }) => event_id),
          );
        if (attempts.length === 0) break;
        const off = await record(address, claimed, attempts);
        if (off !== undefined)
          log.warn({ application_id, reason: off }, 'the address of its events is switched off');
        for (const { error } of attempts) counts[error === null ? 'delivered' : 'failed'] += 1;
      }
      return counts;
    },
  };
};
