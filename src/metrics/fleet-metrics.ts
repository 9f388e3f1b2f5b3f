import { Gauge, type Registry } from 'prom-client';
import type { Database, Queryable } from '#db/client.ts';
import { readReach } from '#db/queries/backoff.ts';
import {
  countConnections,
  countFailures,
  countGamesByStatus,
  countWrapsByKey,
  listLaggingApplications,
  readFleetFacts,
} from '#db/queries/metrics.ts';
import { cached } from '#src/metrics/cached.ts';
import { isFleetCutOff } from '#src/rules/backoff.ts';

/** Only the applications that lag most have separate series. */
const LAGGING_MAX = 20;

/** Maximum age of the other queries. */
const QUICK_MS = 30_000;
/** Maximum age of queries that read whole tables. */
const SLOW_MS = 60_000;
/** A scrape waits this long for a query; Prometheus waits 10 s for the scrape. */
const WAIT_MS = 3_000;
const STATEMENT_TIMEOUT = '20s';

const readOnly = <Facts>(sql: Database, read: (tx: Queryable) => Promise<Facts>): Promise<Facts> =>
  sql.begin('read only', async (tx) => {
    await tx`select set_config('statement_timeout', ${STATEMENT_TIMEOUT}, true)`;
    return read(tx);
  }) as Promise<Facts>;

const seconds = (moment: Date): number => moment.getTime() / 1_000;

type Labels = Partial<Record<string, string>>;

/**
 * Adds the metrics of the fleet, which a scrape reads from the database. Every process reports the same values: aggregate
 * with `max without (instance)`. If the database does not answer, `catalogue_database_up` is 0 and the others are absent.
 */
export const addFleetMetrics = (registry: Registry, sql: Database): void => {
  const quick = cached(QUICK_MS, WAIT_MS, () =>
    readOnly(sql, async (tx) => ({
      fleet: await readFleetFacts(tx),
      lagging: await listLaggingApplications(tx, LAGGING_MAX),
      connections: await countConnections(tx),
      reach: await readReach(tx),
    })),
  );
  const slow = cached(SLOW_MS, WAIT_MS, () =>
    readOnly(sql, async (tx) => ({
      failures: await countFailures(tx),
      games: await countGamesByStatus(tx),
      wraps: await countWrapsByKey(tx),
    })),
  );
  const ping = cached(0, WAIT_MS, async () => {
    const start = performance.now();
    await sql`select 1`;
    return (performance.now() - start) / 1_000;
  });

  const gauge = <Facts>(
    name: string,
    help: string,
    labelNames: string[],
    read: () => Promise<Facts | undefined>,
    values: (facts: Facts) => Iterable<[labels: Labels, value: number]>,
  ): Gauge =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const facts = await read();
        this.reset();
        // reset() sets a gauge without labels to 0; an unknown value is absent instead.
        if (labelNames.length === 0) this.remove();
        if (facts !== undefined) for (const [labels, value] of values(facts)) this.set(labels, value);
      },
    });
  /** A gauge without labels; it is absent if `value` returns null. */
  const single = <Facts>(
    name: string,
    help: string,
    read: () => Promise<Facts | undefined>,
    value: (facts: Facts) => number | null,
  ): Gauge =>
    gauge(name, help, [], read, (facts) => {
      const number = value(facts);
      return number === null ? [] : [[{}, number]];
    });

  const isUp = async () => ((await ping()) === undefined ? 0 : 1);
  single('catalogue_database_up', 'Whether Postgres answers (1) or not (0).', isUp, (up) => up);
  single(
    'catalogue_database_ping_seconds',
    'Duration of one statement, connecting included.',
    ping,
    (s) => s,
  );
  gauge(
    'catalogue_database_connections',
    'Connections to the database by holder and state.',
    ['holder', 'state'],
    quick,
    ({ connections }) => connections.map(({ holder, state, count }) => [{ holder, state }, count]),
  );
  gauge('catalogue_applications', 'Registered applications by status.', ['status'], quick, ({ fleet }) => [
    [{ status: 'active' }, fleet.active],
    [{ status: 'paused' }, fleet.paused],
  ]);
  single(
    'catalogue_applications_failing',
    'Applications whose last scheduled run failed.',
    quick,
    ({ fleet }) => fleet.failing,
  );
  single(
    'catalogue_fleet_cut_off',
    'Whether most applications are unreachable (1), which points to the DNS or egress of the fleet, or not (0).',
    quick,
    ({ reach }) => (isFleetCutOff(reach) ? 1 : 0),
  );
  single(
    'catalogue_applications_overdue',
    'Active applications without a successful run for more than three intervals.',
    quick,
    ({ fleet }) => fleet.overdue,
  );
  gauge(
    'catalogue_application_last_success_timestamp_seconds',
    `Time of the last successful run (of registration, if none) of the ${LAGGING_MAX} active applications that lag most.`,
    ['application_id'],
    quick,
    ({ lagging }) => lagging.map(({ application_id, since }) => [{ application_id }, seconds(since)]),
  );
  gauge(
    'catalogue_application_interval_seconds',
    'Interval of the scheduled runs of these applications.',
    ['application_id'],
    quick,
    ({ lagging }) => lagging.map(({ application_id, every_ms }) => [{ application_id }, every_ms / 1_000]),
  );
  single('catalogue_runs_open', 'Runs that have not ended.', quick, ({ fleet }) => fleet.open_runs);
  single(
    'catalogue_runs_oldest_open_timestamp_seconds',
    'Start of the oldest run that has not ended; absent if there is none.',
    quick,
    ({ fleet }) => fleet.oldest_open_run && seconds(fleet.oldest_open_run),
  );
  single(
    'catalogue_workers',
    'Workers with a heartbeat in the last 30 s.',
    quick,
    ({ fleet }) => fleet.live_workers,
  );
  gauge(
    'catalogue_failures_open',
    'Open ingest failures by operation and kind.',
    ['operation', 'kind'],
    slow,
    ({ failures }) => failures.map(({ operation, kind, count }) => [{ operation, kind }, count]),
  );
  gauge('catalogue_games', 'Games by audit status.', ['audit_status'], slow, ({ games }) =>
    games.map(({ audit_status, count }) => [{ audit_status }, count]),
  );
  gauge(
    'catalogue_sealed_records',
    'Sealed records and access tokens, by the key that wraps their data keys.',
    ['table', 'key_id'],
    slow,
    ({ wraps }) => wraps.map(({ table, key_id, count }) => [{ table, key_id }, count]),
  );
};
