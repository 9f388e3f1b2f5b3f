import { spawn } from 'node:child_process';
import { json, text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { type RawServer, startRawServer } from '#test/support/application-server.ts';
import { createSmallFleet, PLANTED_TOKEN, withoutRedis } from '#test/support/small-fleet.ts';
import { until } from '#test/support/until.ts';

type Span = { traceId: string; spanId: string; parentSpanId?: string; name: string; attributes: unknown[] };
type LogRecord = { body: { stringValue: string }; severityText: string; traceId?: string };
type Metric = {
  name: string;
  sum?: { dataPoints: unknown[]; isMonotonic: boolean };
  gauge?: { dataPoints: { asDouble?: number; asInt?: number }[] };
  histogram?: { dataPoints: { count: number; explicitBounds: number[] }[] };
};
type Export = {
  resourceSpans?: { scopeSpans: { spans: Span[] }[] }[];
  resourceMetrics?: { scopeMetrics: { metrics: Metric[] }[] }[];
  resourceLogs?: { scopeLogs: { logRecords: LogRecord[] }[] }[];
};

/** A collector that accepts OTLP over HTTP in JSON and stores what it gets. */
const received: Export[] = [];
let collector: RawServer;
beforeAll(async () => {
  collector = await startRawServer(async (request, response) => {
    received.push((await json(request)) as Export);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
});
afterAll(() => collector.close());
const spans = (): Span[] =>
  received.flatMap(({ resourceSpans = [] }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
  );
const metrics = (): Metric[] =>
  received.flatMap(({ resourceMetrics = [] }) =>
    resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics)),
  );
const logRecords = (): LogRecord[] =>
  received.flatMap(({ resourceLogs = [] }) =>
    resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap((scope) => scope.logRecords)),
  );

test.skipIf(withoutRedis())(
  'one trace leads from a tick to the upsert, a tick begins its own, and metrics and logs are sent beside them',
  async () => {
    await using fleet = await createSmallFleet();
    await fleet.addApplication('acme', 5);
    const sql = openDatabase(fleet.env.DATABASE_URL ?? '', { max: 1 });
    // Below the minimum for operators, a minute, so that the test does not wait.
    await sql`update applications set every_ms = 1500`;
    await sql.end();
    const worker = await fleet.start('worker', {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '200',
      OTEL_BLRP_SCHEDULE_DELAY: '200',
      OTEL_METRIC_EXPORT_INTERVAL: '500',
      OTEL_METRIC_EXPORT_TIMEOUT: '500',
    });
    /** A span with those that lead to it, as far as they have arrived. */
    const wayTo = ({ name, parentSpanId, traceId }: Span): string => {
      const parent = spans().find((span) => span.traceId === traceId && span.spanId === parentSpanId);
      return parent === undefined ? name : `${name} < ${wayTo(parent)}`;
    };
    const detailsOf = (traceId: string) =>
      spans().filter((span) => span.traceId === traceId && span.name === 'query_game_detail');
    const upsert = await until('a trace leads from a tick to the upsert', () =>
      spans().find(
        (span) =>
          span.name === 'upsert games' &&
          /query-game-detail.* < .*query-game-list.* < .*tick/.test(wayTo(span)) &&
          detailsOf(span.traceId).length >= 5,
      ),
    );
    const ofTick = ({ name }: Span) => /tick/.test(name) && /process/.test(name);
    await until(
      'two ticks are traced',
      () =>
        new Set(
          spans()
            .filter(ofTick)
            .map(({ traceId }) => traceId),
        ).size >= 2,
    );

    expect(detailsOf(upsert.traceId)).toHaveLength(5);

    const ticks = spans().filter(ofTick);
    expect(new Set(ticks.map(({ traceId }) => traceId)).size).toBe(ticks.length);

    const line = await until('a line of the trace is sent', () =>
      logRecords().find(({ traceId }) => traceId === upsert.traceId),
    );
    expect(line.severityText).toBe('info');
    expect(worker.log(), 'the same line on stderr').toContain(`"trace_id":"${upsert.traceId}"`);

    const named = (name: string) => metrics().findLast((metric) => metric.name === name);
    const calls = await until('the calls are sent', () => named('catalogue_webhook_call_duration_seconds'));
    expect(calls.histogram?.dataPoints[0]?.explicitBounds).toContain(0.25);
    await until('the state of the fleet is sent', () => {
      const [point] = named('catalogue_workers')?.gauge?.dataPoints ?? [];
      return (point?.asDouble ?? point?.asInt) === 1;
    });
    expect(named('catalogue_runs_total')?.sum?.isMonotonic).toBe(true);
    const scraped = await (await fetch(worker.metrics)).text();
    const own = [...scraped.matchAll(/^# TYPE (catalogue_\S+|bullmq_\S+) /gm)].map(([, name = '']) => name);
    expect(own.length).toBeGreaterThan(20);
    for (const name of own.filter((each) => scraped.includes(`${each}{`)))
      expect(named(name), name).toBeDefined();

    const text = JSON.stringify(received);
    expect(text).toContain('game-catalogue');
    expect(text).not.toContain(PLANTED_TOKEN);
  },
);

test('a collector that does not answer is named in the log', async () => {
  const script = `
    import { pino } from 'pino';
    import { trace } from '@opentelemetry/api';
    import { startTelemetry } from '#src/tracing/start.ts';
    const signals = { traces: true, metrics: false, logs: false };
    await startTelemetry(signals, pino(pino.destination(1)));
    trace.getTracer('test').startSpan('sent').end();
    setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: {
      ...process.env,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
      OTEL_BSP_SCHEDULE_DELAY: '10',
    },
  });
  const end = setTimeout(() => child.kill('SIGKILL'), 30_000);
  child.stdout.once('data', () => child.kill('SIGKILL'));
  expect(JSON.parse(await text(child.stdout))).toMatchObject({
    error: expect.stringContaining('ECONNREFUSED'),
    msg: 'telemetry is not sent: check OTEL_EXPORTER_OTLP_ENDPOINT and the collector',
  });
  clearTimeout(end);
});
