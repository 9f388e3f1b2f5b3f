import type { FetchFailure } from '#src/contract/pictures.ts';
import { shareConcurrency } from '#src/lib/share-concurrency.ts';

/**
 * Why a request brought no picture. `retryAfterMs`: the server is busy for this time. `isPause`: the application waits for
 * our decoder, or for its turn, so this says nothing of the picture.
 */
export type RequestFailure = {
  outcome: FetchFailure;
  http_status: number | null;
  retryAfterMs?: number;
  isPause?: boolean;
};
/** What the limiter reads of a result. `outcome` is undefined if no request was necessary. `decodeMs`: what decoding cost. */
export type RequestResult = { outcome: unknown; failure?: RequestFailure; decodeMs?: number };

/** Failures of a host; other failures concern one picture. */
const HOST_FAILURES: ReadonlySet<FetchFailure> = new Set([
  'timeout',
  'name_not_found',
  'tls_failed',
  'connect_failed',
]);
/** After this many failures in a row at a host, an application is in backoff there. */
const FAILURES_MAX = 2;
/**
 * After this many hosts in a row that begin to fail, an application is in backoff, because with a wildcard domain, each
 * picture has a host of its own.
 */
export const APPLICATION_FAILURES_MAX = 6;
/** Each backoff in a row is twice as long as the one before. */
export const BACKOFF_MS = { first: 60_000, max: 15 * 60_000 };
/** After a picture that cost the decoder more, its application waits, so that it has at most a tenth of the decoder. */
const SLOW_MS = 2_000;
const SLOW_PAUSE = 9;
const PAUSE: RequestFailure = { outcome: 'busy', http_status: null, isPause: true };
/** Requests that may wait for one host. The host keeps up if this many of its last response times fit in `waitMs`. */
const CROWD = 200;
/** After a turn that was given up, the next attempt is not before this time. */
const AGAIN_MIN_MS = 1_000;
/** Requests of this process at once, until their pictures are decoded. Each may have PICTURE_MAX_BYTES in memory. */
export const REQUESTS_MAX = 3;
/** Hosts in memory. At this number, the half whose backoff ends first (or has ended) is forgotten. */
const HOSTS_MAX = 5_000;

type Backoff = {
  /** Requests that wait or run. */
  pending: number;
  /** Failures in a row. */
  failures: number;
  /** A time of the limiter's clock. */
  backoffUntil: number;
  /** The failure that began the backoff; undefined before the first. */
  backoffReason: RequestFailure | undefined;
};
/** A host is in backoff only while its server responds that it is busy. */
type Host = Backoff & {
  /** Resolves when the earlier requests have ended. */
  earlier: Promise<unknown>;
  /** What the last request took. */
  lastMs: number;
  /** A turn was given up, and no answer since was quick. */
  isBehind: boolean;
  /** When the last turn that was given up might come. */
  nextTurnAt: number;
};

/** How long a request waits for the earlier ones to its host, and when it is attempted again at the latest if it gave up. */
export type TurnLimits = { waitMs: number; againMs: number };

/**
 * Limits requests: one at a time to a host, three at a time in all, shared by the applications, and none to a host that is
 * busy, or for an application in backoff. Failures at a host count for the application of the picture, because on a CDN,
 * broken addresses of one application would otherwise hide the pictures of others. A request whose turn does not come in
 * time gives it up; from then on, a request that would wait as long does not wait at all, until the host answers quickly.
 */
export type HostLimiter = {
  /**
   * Runs a request after the earlier ones to its host.
   * @param onBackoff called instead of `request` during a backoff, with its cause and what is left of it; and when it gives
   *   up its turn, as a pause
   */
  run: <Result extends RequestResult>(
    from: { url: string; application_id: string; turnLimits: TurnLimits },
    request: () => Promise<Result>,
    onBackoff: (reason: RequestFailure) => Promise<Result>,
  ) => Promise<Result>;
  /** Do requests to the host of this address give up their turns? */
  isBehind: (url: string) => boolean;
};

const hostOf = (url: string): string => URL.parse(url)?.host ?? '';

const forgetHosts = (hosts: Map<string, Backoff>): void => {
  const idle = [...hosts].filter(([, { pending }]) => pending === 0);
  idle.sort(([, one], [, other]) => one.backoffUntil - other.backoffUntil);
  for (const [name] of idle.slice(0, HOSTS_MAX / 2)) hosts.delete(name);
};

const updateBackoff = (
  host: Backoff,
  failure: RequestFailure | undefined,
  now: number,
  { failuresMax, busyMs }: { failuresMax: number; busyMs: number },
): void => {
  const isHostFailure = failure !== undefined && HOST_FAILURES.has(failure.outcome);
  host.failures = isHostFailure ? host.failures + 1 : 0;
  const backoffMs =
    host.failures < failuresMax
      ? busyMs
      : Math.min(BACKOFF_MS.first * 2 ** (host.failures - failuresMax), BACKOFF_MS.max);
  host.backoffUntil = now + backoffMs;
  host.backoffReason = failure;
};

/** @param clock in milliseconds */
export const createHostLimiter = (clock: () => number = () => performance.now()): HostLimiter => {
  const hosts = new Map<string, Host>();
  /** By application and host. */
  const pairs = new Map<string, Backoff>();
  const applications = new Map<string, Backoff>();
  /** The backoff of applications whose pictures are decoded slowly. */
  const decoding = new Map<string, Backoff>();
  const share = shareConcurrency(REQUESTS_MAX);

  const findOrAdd = <State extends Backoff>(all: Map<string, State>, name: string, create: () => State) =>
    all.getOrInsertComputed(name, () => {
      if (all.size >= HOSTS_MAX) forgetHosts(all);
      return create();
    });
  const noBackoff = (): Backoff => ({ pending: 0, failures: 0, backoffUntil: 0, backoffReason: undefined });

  /** @returns when the turn is attempted again, in milliseconds from now */
  const giveUp = (host: Host, { againMs }: TurnLimits): number => {
    const now = clock();
    const turnAt = Math.max(host.nextTurnAt, now + AGAIN_MIN_MS) + host.lastMs;
    const againAt = Math.min(turnAt, now + againMs);
    host.isBehind = true;
    host.nextTurnAt = Math.max(host.nextTurnAt, againAt);
    return againAt - now;
  };

  return {
    isBehind: (url) => hosts.get(hostOf(url))?.isBehind ?? false,
    run: ({ url, application_id, turnLimits }, request, onBackoff) => {
      const name = hostOf(url);
      const host = findOrAdd(hosts, name, () => ({
        ...noBackoff(),
        earlier: Promise.resolve(),
        lastMs: 0,
        isBehind: false,
        nextTurnAt: 0,
      }));
      const isTooLate = (waitMs: number) => waitMs > turnLimits.waitMs;
      const since = clock();
      const pair = findOrAdd(pairs, `${application_id} ${name}`, noBackoff);
      const application = findOrAdd(applications, application_id, noBackoff);
      const slow = findOrAdd(decoding, application_id, noBackoff);
      const states: Backoff[] = [host, pair, application, slow];
      /** Returns the result in place of a request, or undefined if the request may be made. */
      const refuse = () => {
        const longest = states.reduce((one, other) => (other.backoffUntil > one.backoffUntil ? other : one));
        const backoffMs = longest.backoffUntil - clock();
        if (longest.backoffReason === undefined || backoffMs <= 0) return undefined;
        return onBackoff({ ...longest.backoffReason, retryAfterMs: backoffMs });
      };
      const runNow = () =>
        share(application_id, async () => {
          const refused = refuse();
          if (refused !== undefined) return await refused;
          const began = clock();
          const result = await request();
          if (result.outcome === undefined) return result;
          host.lastMs = clock() - began;
          if (!isTooLate(host.lastMs * CROWD)) host.isBehind = false;
          const { failure, decodeMs = 0 } = result;
          if (decodeMs > SLOW_MS) {
            slow.backoffUntil = clock() + SLOW_PAUSE * decodeMs;
            slow.backoffReason = PAUSE;
          }
          const busyMs = failure?.retryAfterMs ?? 0;
          // One host that keeps failing counts once for its application.
          const isFirst = failure === undefined || pair.failures === 0;
          updateBackoff(host, failure, clock(), { failuresMax: Number.POSITIVE_INFINITY, busyMs });
          updateBackoff(pair, failure, clock(), { failuresMax: FAILURES_MAX, busyMs: 0 });
          if (isFirst)
            updateBackoff(application, failure, clock(), {
              failuresMax: APPLICATION_FAILURES_MAX,
              busyMs: 0,
            });
          return result;
        });
      const postpone = () => onBackoff({ ...PAUSE, retryAfterMs: giveUp(host, turnLimits) });
      if (host.isBehind && isTooLate(host.pending * host.lastMs)) return refuse() ?? postpone();
      for (const state of states) state.pending += 1;
      const result = host.earlier
        .then(() => refuse() ?? (isTooLate(clock() - since) ? postpone() : runNow()))
        .finally(() => {
          for (const state of states) state.pending -= 1;
        });
      host.earlier = result.catch(() => {});
      return result;
    },
  };
};
