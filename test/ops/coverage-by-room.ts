// Prints the coverage of each room: node test/ops/coverage-by-room.ts coverage/coverage-summary.json
import { readFileSync } from 'node:fs';
import { roomOf } from '#test/ops/check-imports.ts';

type Counts = Record<'lines' | 'branches', { total: number; covered: number }>;

/** The path in its checkout, which may be another one than this. */
const inCheckout = (path: string): string => path.replace(/^.*?\/(?=(?:src|jobs|db)\/)/, '');

const files: Record<string, Counts> = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
const rooms = new Map<string, Counts>();
for (const [path, { lines, branches }] of Object.entries(files)) {
  const room = path === 'total' ? 'all' : (roomOf(inCheckout(path)) ?? 'none');
  const sum = rooms.get(room) ?? {
    lines: { total: 0, covered: 0 },
    branches: { total: 0, covered: 0 },
  };
  for (const [kind, counts] of [
    ['lines', lines],
    ['branches', branches],
  ] as const) {
    sum[kind].total += counts.total;
    sum[kind].covered += counts.covered;
  }
  rooms.set(room, sum);
}
const percent = ({ total, covered }: { total: number; covered: number }): string =>
  total === 0 ? '–' : ((100 * covered) / total).toFixed(1);
for (const [room, { lines, branches }] of [...rooms].toSorted(([a], [b]) => a.localeCompare(b)))
  process.stdout.write(`| \`${room}\` | ${percent(lines)} | ${percent(branches)} |\n`);
