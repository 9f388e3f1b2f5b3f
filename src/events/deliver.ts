import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { Webhook } from 'standardwebhooks';
import type { Database, Queryable } from '#db/client.ts';
import {
  postponeNextAttempt,
  type Receiver,
  recordAddressFailure,
  recordAddressSuccess,
} from '#db/queries/receivers.ts';
import { isOwnKind } from '#src/contract/failure-words.ts';
import { isCallError } from '#src/egress/errors.ts';
import type { HttpPost } from '#src/egress/post.ts';
import { readRetryAfterMs } from '#src/egress/retry-after.ts';
import type { FormatAuditTime } from '#src/events/document.ts';
import { type Attempt, createOutbox, type Outbox, type SendingAddress } from '#src/events/outbox.ts';
import { WIRE } from '#src/rules/budgets.ts';
import { DELIVERY, probeMs } from '#src/rules/deliveries.ts';
import { isKeyError } from '#src/sealing/errors.ts';
import { withEventBox } from '#src/sealing/event-box.ts';
import {
  type EventAddress,
  eventSecretRecord,
  openEventSecrets,
  type SealedEventSecrets,
} from '#src/sealing/event-secret.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';

/** A job ends after this time, so that receivers with many events leave room for others. */
const SLICE_MS = 10_000;
/** The body of the response is not used; this much of it is read to keep the connection. */
const RESPONSE_MAX_BYTES = 4_096;
const SECRETS_MAX = 10_000;

/** After this time the key service or the proxy may respond again, or another worker has the key. */
const OWN_WAIT_MS = 60_000;

const GONE = 410;

/** Did the platform fail, for example its proxy? Then the address did not, and this is no attempt. */
const isOwnFault = ({ error }: Attempt): boolean => error !== null && isOwnKind(error);

export type EventSender = {
  /**
   * Sends the events of a receiver that are due, for up to ten seconds: a few at once, or one at an address that failed.
   * @throws KeyError if its secret does not open here
   */
  deliver: (
    receiver: Receiver,
    signal: AbortSignal,
    log: Logger,
  ) => Promise<{ delivered: number; failed: number }>;
};

type Options = {
  sql: Database;
  keys: KeyRing;
  http: Pick<HttpPost, 'post'>;
  formatAuditTime: FormatAuditTime;
  /** Switches an address off that fails, with an entry in the audit log. @returns false if it was off or was replaced */
  switchEventsOff: (tx: Queryable, address: Receiver & { url: string }, reason: string) => Promise<boolean>;
};

/** Creates a cache that decrypts secrets. Without it, every call would use the key service. */
const createSecretOpener = (sql: Database, keys: KeyRing) => {
  const ring = withEventBox(sql, keys);
  const opened = new LRUCache<string, string[]>({ max: SECRETS_MAX });
  return async (address: EventAddress & SealedEventSecrets): Promise<string[]> => {
    const { url, secret, former_secret } = address;
    const sealed = [secret, former_secret ?? []].map((bytes) => Buffer.from(bytes).toString('base64'));
    const key = JSON.stringify([eventSecretRecord(address), url, ...sealed]);
    const secrets = opened.get(key) ?? (await openEventSecrets(ring, address));
    opened.set(key, secrets);
    return secrets;
  };
};

/** Sends events as Standard Webhooks say: https://www.standardwebhooks.com. Create one per process. */
export const createEventSender = (options: Options): EventSender => {
  const { sql, keys, http, formatAuditTime, switchEventsOff } = options;
  const openSecrets = createSecretOpener(sql, keys);

  const send = async (
    { event_id, document }: { event_id: string; document: object },
    { url }: EventAddress,
    secrets: readonly string[],
    signal: AbortSignal,
  ): Promise<Attempt | undefined> => {
    const body = JSON.stringify(document);
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
        maxWireBytes: WIRE.eventBytes,
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
    { receiver, ...outbox }: Outbox,
    { url, failures }: SendingAddress,
    attempts: readonly Attempt[],
  ): Promise<string | undefined> =>
    sql.begin(async (tx) => {
      const hasDelivered = await outbox.record(tx, attempts);
      const gone = attempts.some(({ status }) => status === GONE);
      if (!gone && hasDelivered) {
        await recordAddressSuccess(tx, receiver, url);
        return undefined;
      }
      const retryAfterMs = Math.max(...attempts.map((each) => each.retryAfterMs ?? 0));
      const last = attempts.findLast((each) => each.error !== null);
      const error = last?.status == null ? (last?.error ?? '') : `HTTP ${last.status}`;
      await outbox.onFailure(tx, error);
      const failingMs = await recordAddressFailure(tx, receiver, {
        url,
        error,
        wait_ms: Math.max(probeMs(failures + 1), retryAfterMs),
        silence_ms: DELIVERY.silenceMs,
      });
      const hasFailedLong = failingMs >= DELIVERY.offAfterMs;
      const why = hasFailedLong ? 'The address has failed for three days.' : undefined;
      const reason = gone ? 'The address answered 410 Gone.' : why;
      if (reason === undefined || !(await switchEventsOff(tx, { ...receiver, url }, reason)))
        return undefined;
      return reason;
    });

  return {
    deliver: async (receiver, signal, log) => {
      const counts = { delivered: 0, failed: 0 };
      const outbox = createOutbox(sql, receiver, formatAuditTime);
      const endMs = performance.now() + SLICE_MS;
      const postpone = ({ secret }: SendingAddress, error: string, wait_ms: number) =>
        postponeNextAttempt(sql, receiver, { secret, error, wait_ms });
      while (!signal.aborted && performance.now() < endMs) {
        const address = await outbox.findAddress();
        if (address?.is_due !== true) break;
        const secrets = await openSecrets(address).catch(async (error: unknown) => {
          const code = isKeyError(error) ? error.code : 'internal';
          const wait_ms = code === 'does_not_open' ? DELIVERY.probeMaxMs : OWN_WAIT_MS;
          await postpone(address, code, wait_ms);
          throw error;
        });
        const claimed = await outbox.claim(address.failures > 0 ? 1 : outbox.atOnce);
        if (claimed === undefined) break;
        if (claimed.length === 0) continue;
        const sent = await Promise.all(claimed.map((event) => send(event, address, secrets, signal)));
        const ended = sent.filter((attempt) => attempt !== undefined);
        const fault = ended.find(isOwnFault)?.error;
        const attempts = ended.filter((attempt) => !isOwnFault(attempt));
        const done = new Set(attempts.map(({ event_id }) => event_id));
        const cancelled = claimed.flatMap(({ event_id }) => (done.has(event_id) ? [] : event_id));
        if (cancelled.length > 0) await outbox.release(cancelled);
        if (attempts.length > 0) {
          const off = await record(outbox, address, attempts);
          if (off !== undefined)
            log.warn({ ...receiver, reason: off }, 'the address of its events is switched off');
          for (const { error } of attempts) counts[error === null ? 'delivered' : 'failed'] += 1;
        }
        if (fault) await postpone(address, fault, OWN_WAIT_MS);
        if (fault || attempts.length === 0) break;
      }
      return counts;
    },
  };
};
