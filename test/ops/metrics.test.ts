import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { DASHBOARDS } from '#test/ops/reference/panels.ts';
import { scrape } from '#test/support/fleet-process.ts';
import { createSmallFleet, PLANTED_TOKEN, withoutRedis } from '#test/support/small-fleet.ts';
import { until } from '#test/support/until.ts';

const CLOCK = fileURLToPath(new URL('../fleet/wrong-clock.ts', import.meta.url));

const namesOf = (expression: string): string[] =>
  expression.match(/\b(?:catalogue|bullmq|nodejs|process)_[a-z0-9_]+/g) ?? [];

/** Every metric that an alert rule or a panel of a dashboard names. */
const namedMetrics = async (): Promise<Set<string>> => {
  const rules = parse(await readFile('deploy/prometheus/rules.yaml', 'utf8'));
  const expressions: string[] = [
    ...rules.groups.flatMap((group: { rules: { expr: string }[] }) => group.rules.map(({ expr }) => expr)),
    ...Object.values(DASHBOARDS).flatMap((panels) => panels.map(({ expr }) => expr)),
  ];
  return new Set(expressions.flatMap(namesOf));
};

const LABELS = new Set(
  'process application_id code operation outcome change le queue state status holder kind audit_status table key_id reason lane'.split(
    ' ',
  ),
);
/** Node's own, of prom-client's default metrics. */
const NODE_LABELS = new Set(['type', 'space', 'version', 'major', 'minor', 'patch', 'kind', 'quantile']);

test.skipIf(withoutRedis())(
  'a worker counts its calls and the games of its runs, and reports the state of the fleet',
  async () => {
    await using fleet = await createSmallFleet();
    const worker = await fleet.start('worker');
    await fleet.addApplication('acme', 30);
    expect((await fleet.run('sync', 'acme', '--wait')).exit).toBe(0);
    await fleet.run('kyc', 'pull', 'acme', '--wait');

    const text = await (await fetch(worker.metrics)).text();
    const samples = await scrape(worker.metrics);
    const value = (name: string, labels: Record<string, string> = {}) => {
      const all = Object.entries({ ...labels, process: 'worker' });
      const wanted = all.map(([label, of]) => `${label}="${of}"`).toSorted();
      for (const [series, sample] of samples) {
        const [, found = '', inner = ''] = /^([^{]+)\{(.*)\}$/.exec(series) ?? [];
        if (found === name && inner.split(',').toSorted().join() === wanted.join()) return sample;
      }
      return undefined;
    };
    const acme = { application_id: 'acme' };
    expect(
      value('catalogue_webhook_calls_total', { ...acme, operation: 'query_game_detail', outcome: 'ok' }),
    ).toBe(30);
    expect(
      value('catalogue_webhook_call_duration_seconds_count', { operation: 'query_cp_kyc', outcome: 'ok' }),
    ).toBe(1);
    expect(value('catalogue_runs_total', { outcome: 'succeeded' })).toBe(1);
    expect(value('catalogue_run_games_total', { change: 'inserted' })).toBe(30);
    expect(value('catalogue_applications', { status: 'active' })).toBe(1);
    expect(value('bullmq_job_count', { queue: 'query-game-list', state: 'waiting' })).toBe(0);
    expect(value('catalogue_queue_up')).toBe(1);
    expect(value('catalogue_database_up')).toBe(1);
    expect(value('catalogue_sealed_records', { table: 'kyc_records', key_id: 'k1' })).toBe(1);
    expect(value('catalogue_application_interval_seconds', acme)).toBe(900);

    const families = new Set(
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
      ),
    );
    for (const name of await namedMetrics())
      expect(families, 'what rules and dashboards name').toContain(name);

    expect(text).not.toContain(PLANTED_TOKEN);
    for (const series of samples.keys()) {
      const allowed =
        series.startsWith('nodejs_') || series.startsWith('process_') ? LABELS.union(NODE_LABELS) : LABELS;
      for (const [, label = ''] of series.matchAll(/[{,]([a-z_]+)="/g))
        expect(allowed, series).toContain(label);
    }
  },
);

test.skipIf(withoutRedis())(
  'every process reports a killed Redis, and its return without a restart',
  async () => {
    await using fleet = await createSmallFleet();
    const processes = [await fleet.start('worker'), await fleet.start('api'), await fleet.start('console')];
    const up = async (metrics: string) => {
      for (const [series, value] of await scrape(metrics))
        if (series.startsWith('catalogue_queue_up')) return value;
      return undefined;
    };
    for (const { metrics } of processes) expect(await up(metrics)).toBe(1);

    await fleet.killRedis();
    for (const { metrics } of processes)
      await until('the metrics show it', async () => (await up(metrics)) === 0);
    for (const { metrics } of processes) {
      expect((await fetch(new URL('/healthz', metrics))).status).toBe(200);
      expect((await fetch(new URL('/readyz', metrics))).status).toBe(503);
    }

    await fleet.startRedis();
    for (const { metrics } of processes) {
      await until('it clears', async () => (await up(metrics)) === 1);
      await until('it is ready', async () => (await fetch(new URL('/readyz', metrics))).status === 200);
    }
  },
);

test.skipIf(withoutRedis())(
  'a worker logs the address of its metrics if another worker uses the port',
  async () => {
    await using fleet = await createSmallFleet();
    const first = await fleet.start('worker');
    const second = await fleet.start('worker', { METRICS_PORT: new URL(first.metrics).port });
    expect(second.metrics).not.toBe(first.metrics);
    expect(second.log()).toContain('METRICS_PORT is in use');
    expect((await scrape(second.metrics)).size).toBeGreaterThan(0);
  },
);

test.skipIf(withoutRedis())(
  'a worker whose clock is wrong beside a good one says in its metrics that it is not ready',
  async () => {
    await using fleet = await createSmallFleet();
    const isReady = async (env: Record<string, string>, said: string) => {
      const { metrics } = await fleet.start('worker', env);
      const readiness = async () => (await fetch(new URL('/readyz', metrics))).text();
      await until(`it says ${said}`, async () => (await readiness()).includes(said));
      return (await scrape(metrics)).get('catalogue_process_ready{process="worker"}');
    };
    expect(await isReady({}, 'worker: ready')).toBe(1);
    expect(await isReady({ NODE_OPTIONS: `--import=${CLOCK}?1` }, 'the clock of this machine')).toBe(0);
  },
);
