import { Gauge, type Registry } from 'prom-client';
import type { Database, Queryable } from '#db/client.ts';
import { countAppeals } from '#db/queries/appeals.ts';
import { countApplications, listLaggingApplications } from '#db/queries/applications.ts';
import { readReach } from '#db/queries/backoff.ts';
import { countConnections, readBlocking } from '#db/queries/connections.ts';
import { countEventWebhooks } from '#db/queries/event-webhooks.ts';
import { countFailures } from '#db/queries/failures.ts';
import { countGamesByStatus } from '#db/queries/game-counts.ts';
import { countDueGames } from '#db/queries/lane-counts.ts';
import { probeWrites } from '#db/queries/probe.ts';
import { countOpenRuns } from '#db/queries/runs.ts';
import { countVerdicts } from '#db/queries/verdicts.ts';
import { countLiveWorkers } from '#db/queries/workers.ts';
import { countWrapsByKey } from '#db/queries/wrapped-keys.ts';
import { cached } from '#src/metrics/cached.ts';
import { areMostUnreachable } from '#src/rules/backoff.ts';

/** Only the applications that lag most have separate series. */
const LAGGING_MAX = 20;

/** Maximum age of queries that read few rows. */
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
  });

const seconds = (moment: Date): number => moment.getTime() / 1_000;

/** A number, null if there is no value, or a list of numbers with their labels. */
type Value = number | null | Iterable<[labels: Partial<Record<string, string>>, value: number]>;

/** Counts the fleet's applications, open runs and live workers. */
const readFleet = async (tx: Queryable) => ({
  ...(await countApplications(tx)),
  ...(await countOpenRuns(tx)),
  live_workers: await countLiveWorkers(tx),
});
type Fleet = Awaited<ReturnType<typeof readFleet>>;

/** Gauges of the fleet without labels: help and value. */
const FLEET_GAUGES: Record<string, [help: string, value: (fleet: Fleet) => number | null]> = {
  catalogue_applications_failing: ['Applications whose last scheduled run failed.', (fleet) => fleet.failing],
  catalogue_applications_overdue: [
    'Active applications without a successful run for more than three intervals.',
    (fleet) => fleet.overdue,
  ],
  catalogue_runs_open: ['Runs that have not ended.', (fleet) => fleet.open_runs],
  catalogue_runs_oldest_open_timestamp_seconds: [
    'Start of the oldest run that has not ended; absent if there is none.',
    (fleet) => fleet.oldest_open_run && seconds(fleet.oldest_open_run),
  ],
  catalogue_workers: ['Workers with a heartbeat in the last 30 s.', (fleet) => fleet.live_workers],
};

type Verdicts = Awaited<ReturnType<typeof countVerdicts>>;

/** Gauges of verdicts and holds: help and value. */
const VERDICT_GAUGES: Record<string, [help: string, value: (verdicts: Verdicts) => number | null]> = {
  catalogue_applications_unverified: [
    'Applications with live games and without the verdict that games need (GAMES_NEED_VERDICT).',
    ({ unverified }) => unverified,
  ],
  catalogue_applications_held: ['Applications whose games an operator holds.', ({ held }) => held],
  catalogue_verdicts_ending: ['Standing verdicts that end within 30 days.', ({ ending }) => ending],
  catalogue_kyc_records_waiting: [
    'KYC records of the current cp_id on which no verdict stands.',
    ({ waiting }) => waiting,
  ],
  catalogue_kyc_records_waiting_oldest_timestamp_seconds: [
    'Since when the first of these records waits; absent if there is none.',
    ({ oldest_waiting }) => oldest_waiting && seconds(oldest_waiting),
  ],
};

/**
 * Adds the metrics of the fleet, which a scrape reads from the database. Every process reports the same values. Aggregate
 * them with `max without (instance, process)`, because each series also has the name of its process. If the database does
 * not accept writes, `catalogue_database_up` is 0. If it does not answer, the other metrics are absent too.
 */
export const addFleetMetrics = (registry: Registry, sql: Database): void => {
  const quick = cached(QUICK_MS, WAIT_MS, () =>
    readOnly(sql, async (tx) => ({
      fleet: await readFleet(tx),
      lagging: await listLaggingApplications(tx, LAGGING_MAX),
      reach: await readReach(tx),
      eventWebhooks: await countEventWebhooks(tx),
    })),
  );
  // Reads no table, so that a session that locks one does not hide itself.
  const sessions = cached(QUICK_MS, WAIT_MS, () =>
    readOnly(sql, async (tx) => ({
      connections: await countConnections(tx),
      blocking: await readBlocking(tx),
    })),
  );
  const slow = cached(SLOW_MS, WAIT_MS, () =>
    readOnly(sql, async (tx) => ({
      failures: await countFailures(tx),
      games: await countGamesByStatus(tx),
      wraps: await countWrapsByKey(tx),
      verdicts: await countVerdicts(tx),
      appeals: await countAppeals(tx),
      due: await countDueGames(tx),
    })),
  );
  const ping = cached(0, WAIT_MS, async () => {
    const start = performance.now();
    await probeWrites(sql);
    return (performance.now() - start) / 1_000;
  });

  const gauge = <Facts>(
    name: string,
    help: string,
    labelNames: string[],
    read: () => Promise<Facts | undefined>,
    toValue: (facts: Facts) => Value,
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
        const value = facts === undefined ? null : toValue(facts);
        if (typeof value === 'number') this.set(value);
        else for (const [labels, each] of value ?? []) this.set(labels, each);
      },
    });

  const isUp = async () => ((await ping()) === undefined ? 0 : 1);
  gauge('catalogue_database_up', 'Whether Postgres accepts writes (1) or not (0).', [], isUp, (up) => up);
  const pingHelp = 'Duration of the probe that writes, connecting included.';
  gauge('catalogue_database_ping_seconds', pingHelp, [], ping, (pingSeconds) => pingSeconds);
  gauge(
    'catalogue_database_connections',
    'Connections to the database by holder and state.',
    ['holder', 'state'],
    sessions,
    ({ connections }) => connections.map(({ holder, state, count }) => [{ holder, state }, count]),
  );
  gauge(
    'catalogue_database_blocking_seconds',
    'For how long a session of this login of Postgres has blocked another session; absent if none does.',
    ['blocker'],
    sessions,
    ({ blocking }) => blocking.map(({ blocker, seconds: blocked }) => [{ blocker }, blocked]),
  );
  gauge(
    'catalogue_event_webhooks',
    'Addresses that events are sent to, by status.',
    ['status'],
    quick,
    ({ eventWebhooks }) => [
      [{ status: 'active' }, eventWebhooks.active],
      [{ status: 'off' }, eventWebhooks.off],
    ],
  );
  gauge('catalogue_applications', 'Registered applications by status.', ['status'], quick, ({ fleet }) => [
    [{ status: 'active' }, fleet.active],
    [{ status: 'paused' }, fleet.paused],
  ]);
  for (const [name, [help, value]] of Object.entries(FLEET_GAUGES))
    gauge(name, help, [], quick, ({ fleet }) => value(fleet));
  gauge(
    'catalogue_fleet_cut_off',
    'Whether most applications are unreachable (1), which points to the DNS or egress of the fleet, or not (0).',
    [],
    quick,
    ({ reach }) => (areMostUnreachable(reach) ? 1 : 0),
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
  gauge(
    'catalogue_failures_open',
    'Open failures by operation and kind: of calls, the faults of latest runs, and secrets of events that do not open.',
    ['operation', 'kind'],
    slow,
    ({ failures }) => failures.map(({ operation, kind, count }) => [{ operation, kind }, count]),
  );
  gauge('catalogue_games', 'Games by audit status.', ['audit_status'], slow, ({ games }) =>
    games.map(({ audit_status, count }) => [{ audit_status }, count]),
  );
  for (const [name, [help, value]] of Object.entries(VERDICT_GAUGES))
    gauge(name, help, [], slow, ({ verdicts }) => value(verdicts));
  gauge(
    'catalogue_games_due',
    'Games of each lane, appeals included, that have waited longer than REVIEW_TARGET.',
    ['lane'],
    slow,
    ({ due }) => Object.entries(due).map(([lane, games]) => [{ lane }, games]),
  );
  gauge(
    'catalogue_appeals_open',
    'Appeals that wait for a decision.',
    [],
    slow,
    ({ appeals }) => appeals.open,
  );
  gauge(
    'catalogue_appeals_oldest_timestamp_seconds',
    'Since when the first of these appeals waits; absent if there is none.',
    [],
    slow,
    ({ appeals }) => appeals.oldest && seconds(appeals.oldest),
  );
  gauge(
    'catalogue_sealed_records',
    'Sealed records and access tokens, by the key that wraps their data keys.',
    ['table', 'key_id'],
    slow,
    ({ wraps }) => wraps.map(({ table, key_id, count }) => [{ table, key_id }, count]),
  );
};
