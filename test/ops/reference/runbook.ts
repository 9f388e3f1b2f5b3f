import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';

type Rule = {
  alert: string;
  for?: string;
  labels: { severity: string };
  annotations: { description: string };
};

/** A text of an alert names other alerts, and sections of pages from the root: here they are links. */
const link = (text: string): string =>
  text
    .replaceAll(/\bCatalogue[A-Z]\w+/g, (alert) => `[${alert}](#${alert.toLowerCase()})`)
    .replaceAll(/\bdocs\/(([\w-]+)\.md(?:#[\w-]+)?)/g, '[$2.md]($1)');

const renderRule = ({ alert, for: wait, labels, annotations }: Rule): string =>
  `### ${alert}\n\n_${labels.severity}${wait === undefined ? '' : `, after ${wait}`}_. ${link(annotations.description)}\n`;

/** Renders the runbook: its section of alerts is made of their rules, the rest stays as it is. */
export const renderRunbook = async (): Promise<string> => {
  const page = await readFile('docs/runbook.md', 'utf8');
  const { groups } = parse(await readFile('deploy/prometheus/rules.yaml', 'utf8'));
  const rules: Rule[] = groups.flatMap((group: { rules: Rule[] }) => group.rules);
  const head = page.slice(0, page.indexOf('\n### '));
  return [head, ...rules.map(renderRule), page.slice(page.indexOf('## Faults'))].join('\n');
};
