import { metrics } from '@opentelemetry/api';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { REFUSALS, tokenRefused } from '#src/api/refusals.ts';
import { PICTURE_OUTCOMES } from '#src/contract/pictures.ts';
import { DETAIL_COUNTERS, RUN_OUTCOMES } from '#src/contract/words.ts';
import { runEnded } from '#src/ingest/run-ended.ts';
import { createApplicationLabels } from '#src/metrics/application-labels.ts';
import { webhookCalled } from '#src/metrics/webhook-calls.ts';
import { STORE_ERROR_CODES } from '#src/picture-store/errors.ts';
import { pictureRequested } from '#src/pictures/picture-requested.ts';
import { pictureStoreFailed } from '#src/pictures/picture-store-failed.ts';

/** At most this many applications have their own series in one process. */
const APPLICATIONS_MAX = 100;

/** Buckets up to the deadline of a call (15 s). */
const CALL_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
/** Buckets from a run of one page to one of a million games. */
const RUN_SECONDS = [1, 5, 15, 60, 300, 900, 3_600, 14_400];

const CHANGES = [...DETAIL_COUNTERS, 'withdrawn'] as const;

/**
 * Creates the metrics of this process: Node's, its webhook calls, and the runs that it ended. No label contains a secret
 * or text of an application. `application_id` comes from the operator, and application-labels.ts bounds its values.
 * @param fault why the process is not ready; undefined if it is
 */
export const createProcessMetrics = (
  name: string,
  fault: () => string | undefined = () => undefined,
): Disposable & { registry: Registry } => {
  const registry = new Registry();
  registry.setDefaultLabels({ process: name });
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name, help, labelNames, registers });
  /** From 0, because a series that starts at 1 shows no increase, so an alert would miss the first suspect run. */
  const counterFrom0 = (name: string, help: string, label: string, values: readonly string[]) => {
    const counted = counter(name, help, [label]);
    for (const value of values) counted.inc({ [label]: value }, 0);
    return counted;
  };

  /** Also recorded for OpenTelemetry. @returns the function that observes a value */
  const histogram = (name: string, help: string, labelNames: string[], buckets: number[]) => {
    const scraped = new Histogram({ name, help, labelNames, buckets, registers });
    const advice = { explicitBucketBoundaries: buckets };
    const sent = metrics.getMeter('game-catalogue').createHistogram(name, { description: help, advice });
    return (labels: Record<string, string>, value: number): void => {
      scraped.observe(labels, value);
      sent.record(value, { ...labels, process: name });
    };
  };

  new Gauge({
    name: 'catalogue_process_ready',
    help: 'Whether this process can do its work (1) or not (0): `/readyz` says why not.',
    registers,
    collect() {
      this.set(fault() === undefined ? 1 : 0);
    },
  });
  const calls = counter(
    'catalogue_webhook_calls_total',
    'Webhook calls by application, operation and outcome: ok or the code of the error.',
    ['application_id', 'operation', 'outcome'],
  );
  const observeCall = histogram(
    'catalogue_webhook_call_duration_seconds',
    'Duration of webhook calls of all applications.',
    ['operation', 'outcome'],
    CALL_SECONDS,
  );
  const runsHelp = 'Runs that this process ended, by outcome.';
  const runs = counterFrom0('catalogue_runs_total', runsHelp, 'outcome', RUN_OUTCOMES);
  const refusalsHelp = 'Calls of the API without a valid token, by reason.';
  const refusals = counterFrom0('catalogue_api_refusals_total', refusalsHelp, 'reason', REFUSALS);
  const observeRun = histogram(
    'catalogue_run_duration_seconds',
    'Duration of runs from start to end, by outcome.',
    ['outcome'],
    RUN_SECONDS,
  );
  const gamesHelp = 'Games of the runs that this process ended, by change.';
  const games = counterFrom0('catalogue_run_games_total', gamesHelp, 'change', CHANGES);
  const lookHelp = 'Requests for pictures that an operator was about to see, by outcome.';
  const checkHelp = 'Requests for pictures of decided games, by outcome: unchanged is the answer 304.';
  const outcomes = [...PICTURE_OUTCOMES, 'unchanged'];
  const pictures = {
    look: counterFrom0('catalogue_pictures_requested_total', lookHelp, 'outcome', outcomes),
    check: counterFrom0('catalogue_pictures_rechecked_total', checkHelp, 'outcome', outcomes),
  };
  const drifted = counter(
    'catalogue_pictures_drifted_total',
    'Passed games that returned to pending because a picture has other bytes than the decision names.',
  );

  const storeHelp = 'Failures of the store of pictures (PICTURE_STORE), by code.';
  const storeFailures = counterFrom0(
    'catalogue_picture_store_failures_total',
    storeHelp,
    'code',
    STORE_ERROR_CODES,
  );

  /** The labels "operation outcome" of each application's series. */
  const series = new Map<string, Set<string>>();
  const removeSeries = (application_id: string): void => {
    for (const key of series.get(application_id) ?? []) {
      const [operation = '', outcome = ''] = key.split(' ');
      calls.remove({ application_id, operation, outcome });
    }
    series.delete(application_id);
  };
  const labelOf = createApplicationLabels(APPLICATIONS_MAX, removeSeries);

  const stopCounting = [
    webhookCalled.subscribe(({ application_id, operation, outcome, seconds }) => {
      // An aborted call is not a failure of the application.
      const label = labelOf(application_id, outcome !== 'ok' && outcome !== 'aborted');
      series.set(label, (series.get(label) ?? new Set()).add(`${operation} ${outcome}`));
      calls.inc({ application_id: label, operation, outcome });
      observeCall({ operation, outcome }, seconds);
    }),
    runEnded.subscribe((run) => {
      const { outcome, started_at, finished_at } = run;
      if (outcome === null || finished_at === null) return;
      runs.inc({ outcome });
      observeRun({ outcome }, (finished_at.getTime() - started_at.getTime()) / 1_000);
      for (const change of CHANGES) games.inc({ change }, run[change]);
    }),
    tokenRefused.subscribe((reason) => refusals.inc({ reason })),
    pictureRequested.subscribe(({ outcome, purpose, driftedGames }) => {
      pictures[purpose].inc({ outcome });
      drifted.inc(driftedGames);
    }),
    pictureStoreFailed.subscribe(({ code }) => storeFailures.inc({ code })),
  ];
  return {
    registry,
    [Symbol.dispose]: () => {
      for (const stop of stopCounting) stop();
    },
  };
};
