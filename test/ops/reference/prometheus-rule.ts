import { readFile } from 'node:fs/promises';
import { parse, stringify } from 'yaml';

const HEAD = '# `npm run docs` writes this from deploy/prometheus/rules.yaml.\n';

/** The alert rules as the Prometheus Operator takes them. */
export const renderPrometheusRule = async (): Promise<string> => {
  const { groups } = parse(await readFile('deploy/prometheus/rules.yaml', 'utf8'));
  const rule = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'catalogue' },
    spec: { groups },
  };
  return HEAD + stringify(rule, { lineWidth: 0 });
};
