/** What each panel of Grafana's dashboards shows. */

export type Panel = {
  title: string;
  expr: string;
  description?: string;
  legend?: string;
  unit?: 'short' | 'cps' | 's' | 'bytes';
  /** Columns, of 24. */
  width?: number;
  /** One large number: the color from 0 on and, if there is another, from 1 on. */
  stat?: readonly [zero: string, one?: string];
};

const UP = ['red', 'green'] as const;
const NONE_IS_GOOD = ['green', 'orange'] as const;
const rate = (metric: string): string => `rate(${metric}[$__rate_interval])`;
const calls = 'catalogue_webhook_calls_total';
const seconds = 'catalogue_webhook_call_duration_seconds_bucket';
const ofKyc = 'operation="query_cp_kyc"';

const fleet: Panel[] = [
  { title: 'Queue', description: 'Redis, or Postgres without it', expr: 'min(catalogue_queue_up)', stat: UP },
  { title: 'Database', expr: 'min(catalogue_database_up)', stat: UP },
  { title: 'Workers', expr: 'max(catalogue_workers)', stat: UP },
  {
    title: 'Applications overdue',
    description: 'Active, without a successful run for more than three intervals',
    expr: 'max(catalogue_applications_overdue)',
    stat: NONE_IS_GOOD,
  },
  { title: 'Applications failing', expr: 'max(catalogue_applications_failing)', stat: NONE_IS_GOOD },
  {
    title: 'Games waiting for review',
    expr: 'max(catalogue_games{audit_status="pending"})',
    stat: ['blue'],
  },
  {
    title: 'Runs by outcome',
    description: 'An hour',
    expr: `sum by (outcome) (${rate('catalogue_runs_total')}) * 3600`,
    legend: '{{outcome}}',
  },
  {
    title: 'Games by change',
    expr: `sum by (change) (${rate('catalogue_run_games_total')})`,
    legend: '{{change}}',
    unit: 'cps',
  },
  {
    title: 'Waiting jobs',
    expr: 'max by (queue) (bullmq_job_count{state="waiting"})',
    legend: '{{queue}}',
  },
  {
    title: 'Webhook calls by outcome',
    expr: `sum by (outcome) (${rate(calls)})`,
    legend: '{{outcome}}',
    unit: 'cps',
  },
  {
    title: 'Webhook latency, 95th percentile',
    expr: `histogram_quantile(0.95, sum by (le, operation) (${rate(seconds)}))`,
    legend: '{{operation}}',
    unit: 's',
  },
  {
    title: 'Failing calls by application',
    description: 'In a large fleet only failing applications have a series; the rest is _others',
    expr: `topk(10, sum by (application_id) (${rate(`${calls}{outcome!~"ok|aborted"}`)}))`,
    legend: '{{application_id}}',
    unit: 'cps',
  },
  {
    title: 'Since the last success',
    description: 'The applications that lag most',
    expr: 'topk(20, max by (application_id) (time() - catalogue_application_last_success_timestamp_seconds))',
    legend: '{{application_id}}',
    unit: 's',
  },
  {
    title: 'Oldest open run',
    expr: 'time() - min(catalogue_runs_oldest_open_timestamp_seconds)',
    legend: 'age',
    unit: 's',
    width: 4,
  },
  { title: 'Open runs', expr: 'max(catalogue_runs_open)', legend: 'open', width: 4 },
  {
    title: 'Failures open',
    expr: 'max by (operation, kind) (catalogue_failures_open)',
    legend: '{{operation}} {{kind}}',
  },
  {
    title: 'Run duration, 95th percentile',
    expr: `histogram_quantile(0.95, sum by (le) (${rate('catalogue_run_duration_seconds_bucket')}))`,
    legend: 'all',
    unit: 's',
  },
  {
    title: 'Database connections',
    expr: 'max by (holder, state) (catalogue_database_connections)',
    legend: '{{holder}} {{state}}',
  },
  {
    title: 'Database round trip',
    expr: 'max(catalogue_database_ping_seconds)',
    legend: 'slowest',
    unit: 's',
    width: 4,
  },
  {
    title: 'Memory',
    expr: 'max by (process) (process_resident_memory_bytes)',
    legend: '{{process}}',
    unit: 'bytes',
    width: 4,
  },
  {
    title: 'Event loop lag, 99th percentile',
    expr: 'max by (process) (nodejs_eventloop_lag_p99_seconds)',
    legend: '{{process}}',
    unit: 's',
    width: 24,
  },
];

const review: Panel[] = [
  { title: 'Waiting', expr: 'max(catalogue_games{audit_status="pending"})', stat: ['blue'] },
  { title: 'Passed', expr: 'max(catalogue_games{audit_status="passed"})', stat: ['green'] },
  { title: 'Rejected', expr: 'max(catalogue_games{audit_status="rejected"})', stat: ['text'] },
  {
    title: 'Returned in a day',
    description: 'Passed games that wait again because a picture has other bytes',
    expr: 'sum(increase(catalogue_pictures_drifted_total[1d]))',
    stat: NONE_IS_GOOD,
  },
  {
    title: 'Picture jobs that wait',
    expr: 'max(bullmq_job_count{state="waiting",queue="fetch-pictures"})',
    stat: NONE_IS_GOOD,
  },
  {
    title: 'Addresses of events that are off',
    expr: 'max(catalogue_event_webhooks{status="off"})',
    stat: NONE_IS_GOOD,
  },
  {
    title: 'Games by status',
    expr: 'max by (audit_status) (catalogue_games)',
    legend: '{{audit_status}}',
    width: 12,
  },
  {
    title: 'Change of each status in an hour',
    description: 'Waiting falls if reviewers decide faster than games arrive',
    expr: 'max by (audit_status) (delta(catalogue_games[1h]))',
    legend: '{{audit_status}}',
    width: 12,
  },
  {
    title: 'Pictures that a reviewer was about to see',
    expr: `sum by (outcome) (${rate('catalogue_pictures_requested_total')}) > 0`,
    legend: '{{outcome}}',
    unit: 'cps',
  },
  {
    title: 'Pictures of decided games',
    description: 'unchanged is the answer 304',
    expr: `sum by (outcome) (${rate('catalogue_pictures_rechecked_total')}) > 0`,
    legend: '{{outcome}}',
    unit: 'cps',
  },
  {
    title: 'Failures of the store of pictures',
    expr: `sum by (code) (${rate('catalogue_picture_store_failures_total')}) > 0`,
    legend: '{{code}}',
    unit: 'cps',
  },
];

const kyc: Panel[] = [
  {
    title: 'Records that fail',
    expr: `sum(max by (kind) (catalogue_failures_open{${ofKyc}}))`,
    stat: NONE_IS_GOOD,
    width: 6,
  },
  {
    title: 'Records that wait for an officer',
    description: 'The cp_id changed',
    expr: `max(catalogue_failures_open{${ofKyc},kind="cp_id_changed"})`,
    stat: NONE_IS_GOOD,
    width: 6,
  },
  {
    title: 'Sealed records',
    expr: 'sum(max by (key_id) (catalogue_sealed_records{table="kyc_records"}))',
    stat: ['blue'],
    width: 6,
  },
  {
    title: 'Keys in use',
    description: 'Two while reseal works',
    expr: 'count(max by (key_id) (catalogue_sealed_records) > 0)',
    stat: ['blue'],
    width: 6,
  },
  {
    title: 'Failures by kind',
    expr: `max by (kind) (catalogue_failures_open{${ofKyc}})`,
    legend: '{{kind}}',
  },
  {
    title: 'Pulls by outcome',
    expr: `sum by (outcome) (${rate(`${calls}{${ofKyc}}`)})`,
    legend: '{{outcome}}',
    unit: 'cps',
  },
  {
    title: 'Latency of pulls, 95th percentile',
    expr: `histogram_quantile(0.95, sum by (le) (${rate(`${seconds}{${ofKyc}}`)}))`,
    legend: 'all',
    unit: 's',
  },
  {
    title: 'Sealed records by key',
    description: 'A key without records can be removed',
    expr: 'max by (table, key_id) (catalogue_sealed_records)',
    legend: '{{table}} {{key_id}}',
    width: 24,
  },
];

export const DASHBOARDS = { fleet, review, kyc } as const;
