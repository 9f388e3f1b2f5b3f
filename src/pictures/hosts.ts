import type { FetchFailure } from '#src/contract/pictures.ts';

/** What a request shows about its host. */
export type HostAnswer = {
  failure?: { outcome: FetchFailure; http_status: number | null; retryAfterMs?: number };
};

const MINUTE_MS = 60_000;
/** Requests in a row that brought no answer; then the host rests. */
const FAILURES_MAX = 2;
/** The first rest, and the longest; each one is twice as long as the one before. */
const REST_MS = { first: MINUTE_MS, most: 15 * MINUTE_MS };
/** Requests of this process at once, the decoding of their pictures included. Each may have PICTURE_MAX_BYTES in memory. */
const REQUESTS_MAX = 3;
/** Hosts that are kept in memory: those that rest longest. */
const HOSTS_MAX = 5_000;

const NO_ANSWER: ReadonlySet<FetchFailure> = new Set([
  'timeout',
  'name_not_found',
  'tls_failed',
  'connect_failed',
]);

type Host = {
  /** Resolves when the requests before have ended. */
  turn: Promise<unknown>;
  waiting: number;
  failures: number;
  restsUntil: number;
  /** The reason of its rest. */
  because: HostAnswer['failure'];
};

/** Runs requests: one at a time for a host, a few at a time in all, and none to a host that rests. */
export type Hosts = {
  /**
   * Runs a request when the host's turn has come.
   * @param rested called instead when the host rests, with the reason
   */
  run: <Answer extends HostAnswer>(
    url: string,
    request: () => Promise<Answer>,
    rested: (failure: NonNullable<HostAnswer['failure']>) => Promise<Answer>,
  ) => Promise<Answer>;
};

export const createHosts = (now: () => number = () => performance.now()): Hosts => {
  const hosts = new Map<string, Host>();
  const queue: (() => void)[] = [];
  let free = REQUESTS_MAX;

  const acquire = async (): Promise<void> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => queue.push(resolve));
  };
  const release = (): void => {
    const next = queue.shift();
    if (next === undefined) free += 1;
    else next();
  };

  const hostOf = (url: string): Host => {
    const name = URL.parse(url)?.host ?? '';
    const known = hosts.get(name);
    if (known !== undefined) return known;
    if (hosts.size >= HOSTS_MAX)
      for (const [each, { waiting, restsUntil }] of hosts)
        if (waiting === 0 && restsUntil < now()) hosts.delete(each);
    const host = { turn: Promise.resolve(), waiting: 0, failures: 0, restsUntil: 0, because: undefined };
    hosts.set(name, host);
    return host;
  };

  const learn = (host: Host, { failure }: HostAnswer): void => {
    if (failure?.outcome === 'busy') {
      host.restsUntil = now() + (failure.retryAfterMs ?? 0);
      host.because = failure;
      return;
    }
    host.failures = failure !== undefined && NO_ANSWER.has(failure.outcome) ? host.failures + 1 : 0;
    if (host.failures < FAILURES_MAX) return;
    host.because = failure;
    host.restsUntil = now() + Math.min(REST_MS.first * 2 ** (host.failures - FAILURES_MAX), REST_MS.most);
  };

  return {
    run: async (url, request, rested) => {
      const host = hostOf(url);
      host.waiting += 1;
      const run = async () => {
        if (host.because !== undefined && host.restsUntil > now())
          return rested({ ...host.because, retryAfterMs: host.restsUntil - now() });
        await acquire();
        try {
          const answer = await request();
          learn(host, answer);
          return answer;
        } finally {
          release();
        }
      };
      const result = host.turn.then(run);
      host.turn = result.catch(() => {});
      return result.finally(() => {
        host.waiting -= 1;
      });
    },
  };
};
