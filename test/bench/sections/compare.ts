import { median, type Row } from '#test/bench/report.ts';
import {
  type Figures,
  ingestOurs,
  ingestReference,
  type Resync,
  startIngestApplications,
} from '#test/bench/sections/ingest.ts';
import type { Servers } from '#test/bench/servers.ts';

const COLUMNS = ['limit', 'plain', 'ours'] as const;

const rowsOf = (section: string, column: string, rounds: readonly Figures[]): Row[] => {
  const of = (pick: (figures: Figures) => number) => median(rounds.map(pick));
  return [
    { section, figure: column, value: of((f) => f.gamesPerSecond), unit: 'games/s' },
    { section, figure: column, value: of((f) => f.cpuUsPerGame), unit: 'CPU µs a game' },
    { section, figure: column, value: of((f) => f.maxRssMb), unit: 'MB at its peak' },
  ];
};

/** Ingest in three columns, in turns, and our resync; ratios are medians of the rounds' own ratios. */
export const compareIngest = async (servers: Servers, games: number, rounds: number): Promise<Row[]> => {
  await using applications = await startIngestApplications(games);
  const figures: Record<(typeof COLUMNS)[number], Figures[]> = { limit: [], plain: [], ours: [] };
  const resyncs: Resync[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const column of COLUMNS) {
      if (column !== 'ours') {
        figures[column].push(await ingestReference(servers, applications, column, games));
        continue;
      }
      const { ingest, resync } = await ingestOurs(servers, applications, games);
      figures.ours.push(ingest);
      resyncs.push(resync);
    }
  }
  const ratio = (pick: (round: number) => number): number => median(resyncs.map((_, round) => pick(round)));
  const rate = (column: (typeof COLUMNS)[number], round: number) =>
    figures[column][round]?.gamesPerSecond ?? 0;
  const ours = (round: number) => figures.ours[round] as Figures;
  const resync = (round: number) => resyncs[round] as Resync;
  const twelfth = 1 / 12;
  const section = 'ingest';
  const again = 'resync';
  return [
    ...COLUMNS.flatMap((column) => rowsOf(section, column, figures[column])),
    {
      section,
      figure: 'ours / plain',
      value: ratio((r) => rate('ours', r) / rate('plain', r)),
      unit: 'of the rate',
      mark: { min: 3 },
    },
    {
      section,
      figure: 'ours / limit',
      value: ratio((r) => rate('ours', r) / rate('limit', r)),
      unit: 'of the rate',
      mark: { min: 0.6 },
    },
    ...rowsOf(again, 'ours, nothing changed', resyncs).slice(0, 2),
    {
      section: again,
      figure: 'resync / ingest',
      value: ratio((r) => resync(r).cpuUsPerGame / ours(r).cpuUsPerGame),
      unit: 'of the CPU',
      mark: { max: twelfth },
    },
    {
      section: again,
      figure: 'resync / ingest',
      value: ratio((r) => resync(r).wallMs / ours(r).wallMs),
      unit: 'of the time',
      mark: { max: twelfth },
    },
    {
      section: again,
      figure: 'detail calls',
      value: Math.max(...resyncs.map((r) => r.detailCalls)),
      unit: '',
      mark: { max: 0 },
    },
    {
      section: again,
      figure: 'game rows updated',
      value: Math.max(...resyncs.map((r) => r.rowsUpdated)),
      unit: '',
      mark: { max: 0 },
    },
  ];
};
