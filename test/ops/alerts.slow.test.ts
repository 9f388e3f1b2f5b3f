// Each alert, provoked in a real Prometheus: it scrapes a process whose metrics say what is wrong, then what is right.
// The time of each rule is shortened; its expressions, thresholds and labels are those of the file.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { findFreePort } from '#src/embedded/free-port.ts';
import { until } from '#test/support/until.ts';

type Rule = { alert: string; expr: string; for?: string; annotations: Record<string, string> };
type Rules = { groups: { rules: Rule[] }[] };

const readRules = async (): Promise<Rules> => parse(await readFile('deploy/prometheus/rules.yaml', 'utf8'));

/** The same rules, which look back and wait seconds instead of minutes and hours. */
const hasten = ({ groups }: Rules) => ({
  groups: groups.map((group) => ({
    ...group,
    rules: group.rules.map((rule) => ({
      ...rule,
      expr: rule.expr.replaceAll(/\[\d+[mh]\]/g, '[8s]'),
      ...(rule.for && { for: '1s' }),
    })),
  })),
});

const HOUR_S = 3_600;

/** What a scrape reads: everything is wrong, or nothing. Counters grow with each scrape. */
const sample = (isWrong: boolean, scrapes: number): string => {
  const now = Date.now() / 1_000;
  const pick = (wrong: number, right: number): number => (isWrong ? wrong : right);
  const bad = isWrong ? scrapes : 0;
  return [
    ['catalogue_queue_up{process="worker"}', pick(0, 1)],
    ['catalogue_database_blocking_seconds{blocker="catalogue_api"}', pick(60, 0)],
    ['catalogue_database_up{process="worker"}', pick(0, 1)],
    ['catalogue_process_ready{process="worker"}', pick(0, 1)],
    ['catalogue_workers', pick(0, 2)],
    ['catalogue_fleet_cut_off', pick(1, 0)],
    ['bullmq_job_count{state="waiting",queue="query-game-list"}', pick(1_001, 3)],
    ['bullmq_job_count{state="delayed",queue="query-game-list"}', 5_000],
    ['bullmq_job_count{state="waiting",queue="fetch-pictures"}', pick(101, 3)],
    ['catalogue_runs_oldest_open_timestamp_seconds', now - pick(7 * HOUR_S, 60)],
    ['catalogue_applications_overdue', pick(2, 0)],
    ['catalogue_applications{status="active"}', 10],
    [
      'catalogue_application_last_success_timestamp_seconds{application_id="acme"}',
      now - pick(2 * HOUR_S, 60),
    ],
    ['catalogue_application_interval_seconds{application_id="acme"}', 900],
    ['catalogue_runs_total{outcome="suspect"}', bad],
    ['catalogue_webhook_call_duration_seconds_count{outcome="ok"}', scrapes * 10],
    ['catalogue_webhook_call_duration_seconds_count{outcome="timeout"}', bad * 10],
    ['catalogue_pictures_drifted_total', bad],
    ['catalogue_pictures_rechecked_total{outcome="unchanged"}', scrapes * 10],
    ['catalogue_pictures_rechecked_total{outcome="timeout"}', bad * 10],
    ['catalogue_picture_store_failures_total{code="full"}', bad],
    ['catalogue_failures_open{operation="query_cp_kyc",kind="invalid_data"}', pick(1, 0)],
    ['catalogue_failures_open{operation="query_game_list",kind="keys"}', pick(1, 0)],
    ['catalogue_event_webhooks{status="off"}', pick(1, 0)],
    ['catalogue_applications_unverified', pick(1, 0)],
    ['catalogue_kyc_records_waiting_oldest_timestamp_seconds', now - pick(73 * HOUR_S, 60)],
    ['catalogue_games_due{lane="new"}', pick(3, 0)],
    ['catalogue_appeals_oldest_timestamp_seconds', now - pick(49 * HOUR_S, 60)],
  ]
    .map(([series, value]) => `${series} ${value}\n`)
    .join('');
};

const started = (prometheus: ChildProcess): Promise<boolean> =>
  new Promise((resolve) => {
    prometheus.once('spawn', () => resolve(true));
    prometheus.once('error', () => resolve(false));
  });

test('every alert links to its section of the runbook', async () => {
  const runbook = await readFile('docs/runbook.md', 'utf8');
  const sections = [...runbook.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
  const rules = (await readRules()).groups.flatMap((group) => group.rules);
  expect(sections).toEqual(rules.map(({ alert }) => alert));
  for (const { alert, annotations } of rules)
    expect(annotations.runbook_url).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
});

test('every alert fires in Prometheus when what it names is wrong, and none when all is well', async ({
  skip,
}) => {
  const directory = await mkdtemp(join(tmpdir(), 'prometheus-'));
  await using resources = new AsyncDisposableStack();
  resources.defer(() => rm(directory, { recursive: true, force: true }));
  const state = { isWrong: false, hasWorker: true, scrapes: 0 };
  const server = createServer((_request, response) => {
    state.scrapes += 1;
    const text = sample(state.isWrong, state.scrapes);
    response.end(state.hasWorker ? text : text.replaceAll('process="worker"', 'process="api"'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  resources.defer(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const [unused, own] = [await findFreePort(), await findFreePort()];
  await writeFile(join(directory, 'rules.yaml'), stringify(hasten(await readRules())));
  await writeFile(
    join(directory, 'prometheus.yaml'),
    stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yaml'],
      scrape_configs: [
        { job_name: 'fleet', static_configs: [{ targets: [`127.0.0.1:${port}`] }] },
        { job_name: 'catalogue', static_configs: [{ targets: [`127.0.0.1:${unused}`] }] },
      ],
    }),
  );
  const prometheus = spawn(
    'prometheus',
    [
      `--config.file=${join(directory, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${own}`,
    ],
    { stdio: 'ignore' },
  );
  if (!(await started(prometheus)) && !process.env.CI)
    return skip('there is no prometheus here: apt-get install -y prometheus');
  resources.defer(() => void prometheus.kill('SIGKILL'));
  const firing = async (): Promise<string[]> => {
    const response = await fetch(`http://127.0.0.1:${own}/api/v1/alerts`).catch(() => undefined);
    const body = response?.ok ? ((await response.json()) as { data: { alerts: Alert[] } }) : undefined;
    const names = body?.data.alerts.filter((alert) => alert.state === 'firing').map(nameOf) ?? [];
    return [...new Set(names)].sort();
  };
  const all = (await readRules()).groups.flatMap(({ rules }) => rules.map(({ alert }) => alert)).sort();
  const without = (...names: string[]) => all.filter((name) => !names.includes(name));

  // Only the process that does not run.
  await until('the first alert fires', async () => (await firing()).length > 0);
  expect(await firing()).toEqual(['CatalogueProcessDown']);
  state.isWrong = true;
  const workersRun = without('CatalogueNoWorker');
  await until('all fire', async () => (await firing()).length === workersRun.length);
  expect(await firing()).toEqual(workersRun);
  state.hasWorker = false;
  // A series of the worker is stale when it is missing from a scrape.
  const noWorker = without('CatalogueWorkersCannotWork');
  await until('no worker runs', async () => (await firing()).join() === noWorker.join());
  Object.assign(state, { isWrong: false, hasWorker: true });
  await until('all are well', async () => (await firing()).join() === 'CatalogueProcessDown');
});

type Alert = { state: string; labels: { alertname: string } };
const nameOf = ({ labels }: Alert): string => labels.alertname;
