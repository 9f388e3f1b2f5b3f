import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { dirname } from 'node:path';
import Table from 'cli-table3';

/** One measured figure; with a `mark`, also whether it is reached. */
export type Row = {
  section: string;
  figure: string;
  value: number;
  unit: string;
  /** What the figure is to reach: at least (`min`) or at most (`max`). */
  mark?: { min: number } | { max: number };
  note?: string;
};

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = Number.NaN, high = Number.NaN] = [sorted[(sorted.length - 1) >> 1], sorted[middle]];
  return (low + high) / 2;
};

const isReached = ({ value, mark }: Row): boolean | null => {
  if (mark === undefined) return null;
  return 'min' in mark ? value >= mark.min : value <= mark.max;
};

const shown = (value: number): string =>
  Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);

const markOf = ({ mark }: Row): string => {
  if (mark === undefined) return '';
  return 'min' in mark ? `at least ${shown(mark.min)}` : `at most ${shown(mark.max)}`;
};

/** The rows of one section as a table for people. */
export const tableOf = (rows: readonly Row[]): string => {
  const table = new Table({
    head: ['', 'figure', 'value', 'unit', 'mark', ''],
    style: { head: [], border: [], compact: true },
  });
  for (const row of rows) {
    const reached = isReached(row);
    const verdict =
      reached === null
        ? (row.note ?? '')
        : `${reached ? 'reached' : 'NOT REACHED'}${row.note ? `; ${row.note}` : ''}`;
    table.push([
      row.section,
      row.figure,
      { content: shown(row.value), hAlign: 'right' },
      row.unit,
      markOf(row),
      verdict,
    ]);
  }
  return table.toString();
};

export const machine = () => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGb: Math.round(totalmem() / 2 ** 30),
  platform: `${process.platform} ${process.arch}`,
  node: process.version,
});

export const writeReport = async (file: string, quick: boolean, rows: readonly Row[]): Promise<void> => {
  const measured = rows.map((row) => ({ ...row, reached: isReached(row) }));
  await mkdir(dirname(file), { recursive: true });
  await writeFile(
    file,
    `${JSON.stringify({ at: new Date(), quick, machine: machine(), rows: measured }, null, 2)}\n`,
  );
};
