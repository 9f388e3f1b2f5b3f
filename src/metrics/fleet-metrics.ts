import { Gauge, type Registry } from 'prom-client';
import type { Database, Queryable } from '#db/client.ts';
import {
  countConnections,
  countFailures,
  countGamesByStatus,
  countWrapsByKey,
  listLaggingApplications,
  readFleetFacts,
} from '#db/queries/metrics.ts';
import { cached } from '#src/metrics/cached.ts';

/** Applications that are named: those whose last success lies furthest back. The rest is in the totals. */
const LAGGING_MAX = 20;

/** How old a figure may be. Those that read whole tables are asked for once a minute. */
const QUICK_MS = 30_000;
const SLOW_MS = 60_000;
/** How long a scrape waits for figures, in milliseconds: below Prometheus's own limit of 10 s. */
const WAIT_MS = 3_000;
/** How long Postgres may count. */
const STATEMENT_TIMEOUT = '20s';

/** In one read-only transaction with a limit: a figure is never worth the database's health. */
const bounded = <Facts>(sql: Database, read: (tx: Queryable) => Promise<Facts>): Promise<Facts> =>
  sql.begin('read only', async (tx) => {
    await tx`select set_config('statement_timeout', ${STATEMENT_TIMEOUT}, true)`;
    return read(tx);
  }) as Promise<Facts>;

const seconds = (moment: Date): number => moment.getTime() / 1_000;

type Labels = Partial<Record<string, string>>;

/**
 * Add the fleet's figures, read from the database when they are asked for. Every process answers the same;
 * `max without (instance)` takes one. Where the database does not answer, `catalogue_database_up` is 0 and the
 * others are absent.
 */
export const addFleetMetrics = (registry: Registry, sql: Database): void => {
  const registers = [registry];
  const quick = cached(QUICK_MS, WAIT_MS, () =>
    bounded(sql, async (tx) => ({
      fleet: await readFleetFacts(tx),
      lagging: await listLaggingApplications(tx, LAGGING_MAX),
      connections: await countConnections(tx),
    })),
  );
  const slow = cached(SLOW_MS, WAIT_MS, () =>
    bounded(sql, async (tx) => ({
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

  /** A gauge whose values are all read anew at each scrape. */
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
      registers,
      async collect() {
        const facts = await read();
        this.reset();
        // Without labels a gauge that was reset says 0; what is not known is left out.
        if (labelNames.length === 0) this.remove();
        if (facts !== undefined) for (const [labels, value] of values(facts)) this.set(labels, value);
      },
    });

  gauge(
    'catalogue_database_up',
    'Does Postgres answer (1) or not (0)?',
    [],
    () => ping().then(known),
    (up) => [[{}, up.known ? 1 : 0]],
  );
  gauge(
    'catalogue_database_ping_seconds',
    'How long one statement took, connecting included.',
    [],
    ping,
    (took) => [[{}, took]],
  );
  gauge(
    'catalogue_database_connections',
    'Connections to the database by who holds them and what they do.',
    ['holder', 'state'],
    quick,
    ({ connections }) => connections.map(({ holder, state, count }) => [{ holder, state }, count]),
  );
  gauge('catalogue_applications', 'Registered applications by status.', ['status'], quick, ({ fleet }) => [
    [{ status: 'active' }, fleet.active],
    [{ status: 'paused' }, fleet.paused],
  ]);
  gauge(
    'catalogue_applications_failing',
    'Applications whose last scheduled run failed.',
    [],
    quick,
    ({ fleet }) => [[{}, fleet.failing]],
  );
  gauge(
    'catalogue_applications_overdue',
    'Active applications without a successful run for more than three intervals.',
    [],
    quick,
    ({ fleet }) => [[{}, fleet.overdue]],
  );
  gauge(
    'catalogue_application_last_success_timestamp_seconds',
    `When a run last succeeded, for the ${LAGGING_MAX} active applications that lag most (registration, if never).`,
    ['application_id'],
    quick,
    ({ lagging }) => lagging.map(({ application_id, since }) => [{ application_id }, seconds(since)]),
  );
  gauge(
    'catalogue_application_interval_seconds',
    'How often the games of these applications are pulled.',
    ['application_id'],
    quick,
    ({ lagging }) => lagging.map(({ application_id, every_ms }) => [{ application_id }, every_ms / 1_000]),
  );
  gauge('catalogue_runs_open', 'Runs that have not ended.', [], quick, ({ fleet }) => [
    [{}, fleet.open_runs],
  ]);
  gauge(
    'catalogue_runs_oldest_open_timestamp_seconds',
    'When the oldest run that has not ended began; absent when there is none.',
    [],
    quick,
    ({ fleet }) => (fleet.oldest_open_run === null ? [] : [[{}, seconds(fleet.oldest_open_run)]]),
  );
  gauge(
    'catalogue_workers',
    'Workers that live: a job passed through each within 30 s.',
    [],
    quick,
    ({ fleet }) => [[{}, fleet.live_workers]],
  );
  gauge(
    'catalogue_failures_open',
    'What did not land, by operation and kind.',
    ['operation', 'kind'],
    slow,
    ({ failures }) => failures.map(({ operation, kind, count }) => [{ operation, kind }, count]),
  );
  gauge('catalogue_games', 'Games in the catalogue by audit status.', ['audit_status'], slow, ({ games }) =>
    games.map(({ audit_status, count }) => [{ audit_status }, count]),
  );
  gauge(
    'catalogue_sealed_records',
    'Sealed records, access tokens among them, by the key that wraps their data keys.',
    ['table', 'key_id'],
    slow,
    ({ wraps }) => wraps.map(({ table, key_id, count }) => [{ table, key_id }, count]),
  );
};

const known = (value: unknown): { known: boolean } => ({ known: value !== undefined });
