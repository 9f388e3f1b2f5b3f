import { renderDashboard } from '#test/ops/reference/dashboards.ts';
import { DASHBOARDS } from '#test/ops/reference/panels.ts';
import { renderPrometheusRule } from '#test/ops/reference/prometheus-rule.ts';
import { renderRunbook } from '#test/ops/reference/runbook.ts';
import { renderTable } from '#test/ops/reference/table.ts';
import { readTables } from '#test/ops/reference/tables.ts';

const HEAD = '# Reference\n\n`npm run docs` writes this page from the code, and a test compares it.\n';

const renderReference = async (): Promise<string> =>
  [HEAD, ...(await readTables()).map(renderTable)].join('\n');

const dashboards = (Object.keys(DASHBOARDS) as (keyof typeof DASHBOARDS)[]).map(
  (name) => [`deploy/grafana/${name}.json`, async () => renderDashboard(name)] as const,
);

/** The files that are made of the code, by path. */
export const GENERATED: Readonly<Record<string, () => Promise<string>>> = {
  'docs/reference.md': renderReference,
  'docs/runbook.md': renderRunbook,
  'deploy/kubernetes/prometheus-operator/rules.yaml': renderPrometheusRule,
  ...Object.fromEntries(dashboards),
};
