import type { FetchFailure } from '#src/contract/pictures.ts';
import { shareConcurrency } from '#src/lib/share-concurrency.ts';

/** Why a request brought no picture. `retryAfterMs`: the server is busy for this time. */
export type RequestFailure = { outcome: FetchFailure; http_status: number | null; retryAfterMs?: number };
/** What the limiter reads of a result. `outcome` is undefined if no request was necessary. */
export type RequestResult = { outcome: unknown; failure?: RequestFailure };

/** Failures of a host; other failures concern one picture. */
const HOST_FAILURES: ReadonlySet<FetchFailure> = new Set([
  'timeout',
  'name_not_found',
  'tls_failed',
  'connect_failed',
]);
/** After this many failures in a row, a host is in backoff. */
const FAILURES_MAX = 2;
/**
 * After this many hosts in a row that begin to fail, an application is in backoff: with a wildcard domain, each picture
 * has a host of its own.
 */
export const APPLICATION_FAILURES_MAX = 6;
/** Each backoff in a row is twice as long as the one before. */
export const BACKOFF_MS = { first: 60_000, max: 15 * 60_000 };
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
/** `earlier` resolves when the earlier requests have ended. */
type Host = Backoff & { earlier: Promise<unknown> };

/**
 * Limits requests: one at a time to a host, three at a time in all, shared by the applications, and none to a host or
 * for an application in backoff.
 */
export type HostLimiter = {
  /**
   * Runs a request after the earlier ones to its host.
   * @param onBackoff called instead of `request` while the host or the application is in backoff, with what is left of it
   */
  run: <Result extends RequestResult>(
    from: { url: string; application_id: string },
    request: () => Promise<Result>,
    onBackoff: (reason: RequestFailure) => Promise<Result>,
  ) => Promise<Result>;
};

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
  const applications = new Map<string, Backoff>();
  const share = shareConcurrency(REQUESTS_MAX);

  const findOrAdd = <State extends Backoff>(all: Map<string, State>, name: string, create: () => State) =>
    all.getOrInsertComputed(name, () => {
      if (all.size >= HOSTS_MAX) forgetHosts(all);
      return create();
    });
  const noBackoff = (): Backoff => ({ pending: 0, failures: 0, backoffUntil: 0, backoffReason: undefined });

  return {
    run: ({ url, application_id }, request, onBackoff) => {
      const name = URL.parse(url)?.host ?? '';
      const host = findOrAdd(hosts, name, () => ({ ...noBackoff(), earlier: Promise.resolve() }));
      const application = findOrAdd(applications, application_id, noBackoff);
      /** What to do instead of the request, if anything. */
      const refuse = () => {
        const longest = host.backoffUntil > application.backoffUntil ? host : application;
        const backoffMs = longest.backoffUntil - clock();
        if (longest.backoffReason === undefined || backoffMs <= 0) return undefined;
        return onBackoff({ ...longest.backoffReason, retryAfterMs: backoffMs });
      };
      const runNow = () =>
        share(application_id, async () => {
          const refused = refuse();
          if (refused !== undefined) return await refused;
          const result = await request();
          if (result.outcome === undefined) return result;
          const { failure } = result;
          const busyMs = failure?.retryAfterMs ?? 0;
          // One host that keeps failing counts once for its application.
          const isFirst = failure === undefined || host.failures === 0;
          updateBackoff(host, failure, clock(), { failuresMax: FAILURES_MAX, busyMs });
          if (isFirst)
            updateBackoff(application, failure, clock(), {
              failuresMax: APPLICATION_FAILURES_MAX,
              busyMs: 0,
            });
          return result;
        });
      host.pending += 1;
      application.pending += 1;
      const result = host.earlier
        .then(() => refuse() ?? runNow())
        .finally(() => {
          host.pending -= 1;
          application.pending -= 1;
        });
      host.earlier = result.catch(() => {});
      return result;
    },
  };
};
