import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Row } from '../report.ts';

const SCRIPTS = ['../api-pages.ts', '../api-http.ts'];
const FIGURE = /^(.+): (?:(\d+) requests\/s, )?p50 ([\d.]+) ms, p99 ([\d.]+) ms$/gm;

/** The platform's own operations: what their own scripts measure, of a query alone and over HTTP. */
export const measurePlatform = async (games: number): Promise<Row[]> => {
  const rows: Row[] = [];
  for (const script of SCRIPTS) {
    const file = fileURLToPath(new URL(script, import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [file, String(games)]);
    for (const [, figure = '', perSecond, p50, p99] of stdout.matchAll(FIGURE)) {
      const note = `p99 ${p99} ms${perSecond === undefined ? '' : `, ${perSecond} requests/s`}`;
      rows.push({ section: 'api', figure: figure.trim(), value: Number(p50), unit: 'ms, median', note });
    }
  }
  return rows;
};
