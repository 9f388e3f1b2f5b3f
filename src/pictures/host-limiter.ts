import type { FetchFailure } from '#src/contract/pictures.ts';
import { limitConcurrency } from '#src/lib/limit-concurrency.ts';

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
/** Each backoff in a row is twice as long as the one before. */
const BACKOFF_MS = { first: 60_000, max: 15 * 60_000 };
/** Requests of this process at once, until their pictures are decoded. Each may have PICTURE_MAX_BYTES in memory. */
const REQUESTS_MAX = 3;
/** Hosts in memory. At this number, the half whose backoff ends first (or has ended) is forgotten. */
const HOSTS_MAX = 5_000;

type Host = {
  /** Resolves when the earlier requests have ended. */
  earlier: Promise<unknown>;
  /** Requests that wait or run. */
  pending: number;
  /** Failures in a row. */
  failures: number;
  /** A time of the limiter's clock. */
  backoffUntil: number;
  /** The failure that began the backoff; undefined before the first. */
  backoffReason: RequestFailure | undefined;
};

/** Limits requests: one at a time to a host, three at a time in all, and none to a host in backoff. */
export type HostLimiter = {
  /**
   * Runs a request after the earlier ones to its host.
   * @param onBackoff called instead of `request` while the host is in backoff; `retryAfterMs` is the rest of the backoff
   */
  run: <Result extends RequestResult>(
    url: string,
    request: () => Promise<Result>,
    onBackoff: (reason: RequestFailure) => Promise<Result>,
  ) => Promise<Result>;
};

const forgetHosts = (hosts: Map<string, Host>): void => {
  const idle = [...hosts].filter(([, { pending }]) => pending === 0);
  idle.sort(([, one], [, other]) => one.backoffUntil - other.backoffUntil);
  for (const [name] of idle.slice(0, HOSTS_MAX / 2)) hosts.delete(name);
};

const updateBackoff = (host: Host, failure: RequestFailure | undefined, now: number): void => {
  const isHostFailure = failure !== undefined && HOST_FAILURES.has(failure.outcome);
  host.failures = isHostFailure ? host.failures + 1 : 0;
  const backoffMs =
    host.failures < FAILURES_MAX
      ? (failure?.retryAfterMs ?? 0)
      : Math.min(BACKOFF_MS.first * 2 ** (host.failures - FAILURES_MAX), BACKOFF_MS.max);
  host.backoffUntil = now + backoffMs;
  host.backoffReason = failure;
};

/** @param clock in milliseconds */
export const createHostLimiter = (clock: () => number = () => performance.now()): HostLimiter => {
  const hosts = new Map<string, Host>();
  const limit = limitConcurrency(REQUESTS_MAX);

  const getHost = (url: string): Host => {
    const name = URL.parse(url)?.host ?? '';
    const known = hosts.get(name);
    if (known !== undefined) return known;
    if (hosts.size >= HOSTS_MAX) forgetHosts(hosts);
    const host: Host = {
      earlier: Promise.resolve(),
      pending: 0,
      failures: 0,
      backoffUntil: 0,
      backoffReason: undefined,
    };
    hosts.set(name, host);
    return host;
  };

  return {
    run: (url, request, onBackoff) => {
      const host = getHost(url);
      const runNow = async () => {
        const backoffMs = host.backoffUntil - clock();
        if (host.backoffReason !== undefined && backoffMs > 0)
          return onBackoff({ ...host.backoffReason, retryAfterMs: backoffMs });
        const result = await limit(request);
        if (result.outcome !== undefined) updateBackoff(host, result.failure, clock());
        return result;
      };
      host.pending += 1;
      const result = host.earlier.then(runNow).finally(() => {
        host.pending -= 1;
      });
      host.earlier = result.catch(() => {});
      return result;
    },
  };
};
