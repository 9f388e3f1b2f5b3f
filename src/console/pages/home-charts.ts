/** The last 24 hours on the overview. */
import type { HourRow } from '#db/queries/run-hours.ts';
import { barChart, outcomeSeries } from '#src/console/charts.ts';
import { html, number, type SafeHtml, section } from '#src/site/html.ts';

const strong = (total: string): SafeHtml => html`<strong>${total}</strong>`;

/** New games, decisions and runs of each hour, with their sums. */
export const charts = (
  hours: readonly HourRow[],
  decided: readonly { passed: number; rejected: number }[],
) => {
  const labels = hours.map(({ hour }) => `${hour.toISOString().slice(11, 16)} UTC`);
  const values = <Row, Field extends keyof Row>(rows: readonly Row[], field: Field) =>
    rows.map((row) => row[field]);
  const sum = (all: readonly number[]): string => number(all.reduce((total, each) => total + each, 0));
  const landed = values(hours, 'landed');
  const passed = values(decided, 'passed');
  const rejected = values(decided, 'rejected');
  const games = [{ name: 'new games', tone: 'accent', values: landed }] as const;
  const decisions = [
    { name: 'passed', tone: 'good', values: passed },
    { name: 'rejected', tone: 'bad', values: rejected },
  ] as const;
  const runs = outcomeSeries((outcome) => values(hours, outcome));
  const total = sum([...passed, ...rejected]);
  const started = sum(runs.flatMap((each) => each.values));
  return html`<div class="columns charts">
${section('Games received', barChart('New games an hour', labels, games), { aside: strong(sum(landed)) })}
${section('Decisions', barChart('Decisions an hour', labels, decisions), { aside: strong(total) })}
${section('Runs', barChart('Runs an hour by outcome', labels, runs), { aside: strong(started) })}</div>`;
};
