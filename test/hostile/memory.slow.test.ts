import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { startWorkerProcess } from '#test/fleet/worker.ts';
import { startTestFleet } from '#test/support/fleet.ts';
import {
  type Behaviour,
  goodDetail,
  idsOf,
  raw,
  startHostileApplication,
  success,
} from '#test/support/hostile-application.ts';
import { until } from '#test/support/until.ts';

const MIB = 1024 * 1024;
/** The limit of the manifests (deploy/kubernetes/worker.yaml). */
const LIMIT_MIB = 512;
const APPLICATIONS = 8;
/** Games that must have landed, and large ones among them: by then the worker's memory has been full for a while. */
const GAMES = 40;
const LARGE_GAMES = 10;
const ENCRYPTION_KEYS = `test:${createHash('sha256').update('the key of the tests').digest('base64')}`;
const PACE = { concurrency: 8, rate: 50 };

/** A valid detail of nearly 1 MiB. */
const LARGE_DETAIL = ((game_id = '{id}'): string => {
  const urls = Array.from({ length: 100 }, (_, index) => `https://cdn.example/${index}/${'x'.repeat(2_000)}`);
  const detail = {
    ...goodDetail(game_id),
    game_info: '\u{1f3ae}'.repeat(65_000),
    game_icon: urls,
    game_store_pic: urls,
  };
  return success({ ...detail, extra: 'y'.repeat(300_000) });
})();
const row = (game_id: string) => ({ game_id, game_name: 'G', game_icon: '' });
const longText = '\u{1f3ae}'.repeat(500);
const largePage = (from: number): string => {
  const ids = idsOf(longText.slice(0, 900), 900, from);
  const list = ids.map((game_id) => ({ game_id, game_name: longText, game_icon: '' }));
  return success({ total: 1_000_000, list });
};
const gzip = { 'content-encoding': 'gzip' };

/** Ways to fill the memory of a worker within every cap of a call. */
const ATTACKS: readonly Behaviour[] = [
  // Details of nearly 1 MiB.
  {
    list: (pageNum) => ({ data: { total: 1_000_000, list: idsOf(`p${pageNum}`, 100).map(row) } }),
    detail: (id) => raw(LARGE_DETAIL.replaceAll('{id}', id)),
  },
  // Details of 1 KiB that become 1 MiB.
  {
    list: (pageNum) => ({ data: { total: 1_000_000, list: idsOf(`p${pageNum}`, 100).map(row) } }),
    detail: (id) => raw(gzipSync(success({ ...goodDetail(id), extra: ' '.repeat(MIB - 1_000) })), 200, gzip),
  },
  // Details of 60 KiB, a thousand a page.
  {
    list: (pageNum) => ({ data: { total: 1_000_000, list: idsOf(`p${pageNum}`, 1_000).map(row) } }),
    detail: (id) => ({ data: { ...goodDetail(id), game_info: '\u{1f3ae}'.repeat(15_000) } }),
  },
  // Pages of 4 MiB.
  { list: (pageNum) => raw(largePage(1_000 * pageNum)), detail: () => raw('no', 404) },
];

/** The most memory that the process has had, in MiB. */
const peakMib = async (pid: number): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
};

test('a worker stays within 512 MiB while eight applications fill its memory in four ways', async () => {
  await using stack = new AsyncDisposableStack();
  const fleet = await startTestFleet('postgres');
  stack.defer(fleet.stop);
  for (let index = 0; index < APPLICATIONS; index += 1) {
    const behaviour = ATTACKS[index % ATTACKS.length] as Behaviour;
    await startHostileApplication(fleet, `hostile-${index}`, behaviour, PACE);
    await fleet.startRun(`hostile-${index}`);
  }
  const env = { DATABASE_URL: fleet.databaseUrl, ENCRYPTION_KEYS };
  const { pid } = stack.use(await startWorkerProcess(env, { timing: { lockMs: 30_000 } }));
  await until('large details have landed, and others', async () => {
    const [row] = await fleet.sql<{ games: number; large: number }[]>`
      select count(*)::int as games, (count(*) filter (where octet_length(game_desc) > 200000))::int as large
      from games`;
    return row !== undefined && row.games >= GAMES && row.large >= LARGE_GAMES;
  });
  expect(await peakMib(pid)).toBeLessThan(LIMIT_MIB);
});
