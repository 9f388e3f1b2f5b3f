import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type CliResult, runCli } from '#test/support/cli.ts';
import { useTestFleet } from '#test/support/fleet.ts';
import { asOperator } from '#test/support/roles.ts';

/** The content of a game that another catalogue has decided. */
export const CONTENT = {
  game_name: 'Lantern Harbour',
  game_icon: ['https://cdn.example/icon.png?t=1'],
  game_desc: 'Two lines,\nand "quotes", =1+1, \u2028 and \u202e.',
  game_store_pic: ['https://cdn.example/1.png'],
  game_store_video: '',
};
export const DECIDED = { audit_status: 'passed', audit_time: '2024-02-29T23:59:59.123Z', decided_by: 'zoë' };

export const importArgs = (application: string, file: string, ...others: string[]) => [
  ...['game', 'import', '--application', application, '--file', file, '--by', 'kim'],
  ...others,
];

/** A fleet whose games are exported and imported by the command line, and a directory for files of games. */
export const useTransfers = () => {
  const fleet = useTestFleet('postgres', 1);
  let directory = '';
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'catalogue-import-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  const fileOf = async (lines: readonly (object | string)[]): Promise<string> => {
    const path = join(directory, `${randomUUID()}.ndjson`);
    const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
    await writeFile(path, `${text}\n`);
    return path;
  };
  const run = (args: string[], databaseUrl = fleet.databaseUrl): Promise<CliResult> =>
    runCli(args, asOperator(databaseUrl));
  const importLines = async (application: string, lines: readonly (object | string)[], ...others: string[]) =>
    run(importArgs(application, await fileOf(lines), ...others));
  const statuses = async (application_id: string) => {
    const rows = await fleet.sql<{ status: string; games: number }[]>`
      select audit_status as status, count(*)::int as games from games
      where application_id = ${application_id} and withdrawn_at is null group by 1`;
    return Object.fromEntries(rows.map(({ status, games }) => [status, games]));
  };
  return { fleet, fileOf, run, importLines, statuses };
};
