// Broken and hostile pictures through a real media process: node test/hostile/broken-pictures.ts [pictures].
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import sharp from 'sharp';
import type { Database } from '#db/client.ts';
import { upsertGames } from '#db/queries/games.ts';
import { fetchPictures, jobSpecs } from '#src/ingest/specs.ts';
import { openQueueBackend } from '#src/queue/backend.ts';
import { createProducer } from '#src/queue/producer.ts';
import { choicesFrom } from '#src/sample-application/random.ts';
import { startServers } from '#test/bench/servers.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { startFleetProcess } from '#test/support/fleet-process.ts';
import { aPicture, startPictureServer } from '#test/support/pictures.ts';

const FORMATS = ['png', 'jpeg', 'webp', 'avif', 'gif'] as const;

/** Where headers hold the width: an attacker writes any size there. */
const SIZE_AT = { png: 16, jpeg: 163, webp: 24, avif: 200, gif: 6 } as const;

/** Broken pictures, always the same: cut off, bits flipped, wrong sizes, parts of another type, bytes of zero. */
export const brokenPictures = async (count: number): Promise<Buffer[]> => {
  const bases = await Promise.all(FORMATS.map((format, n) => aPicture(n, format)));
  const grain = choicesFrom('noise');
  const raw = { width: 200, height: 150, channels: 3 } as const;
  const pixels = Uint8Array.from({ length: 200 * 150 * 3 }, () => grain.below(256));
  const noise = await sharp(pixels, { raw }).png().toBuffer();
  return Array.from({ length: count }, (_, n) => {
    const { below } = choicesFrom(`broken ${n}`);
    const at = n % FORMATS.length;
    const format = FORMATS[at] ?? 'png';
    const base = bases[at] ?? noise;
    const bytes = Buffer.from(n % 11 === 0 ? noise : base);
    const kind = Math.floor(n / FORMATS.length) % 6;
    if (kind === 0) return bytes.subarray(0, 8 + below(bytes.length - 8));
    if (kind === 1)
      for (let flips = 1 + below(40); flips > 0; flips -= 1) {
        const byte = below(bytes.length);
        bytes[byte] = (bytes[byte] ?? 0) ^ (1 << below(8));
      }
    if (kind === 2) bytes.writeUInt32BE(below(0xff_ff_ff), Math.min(SIZE_AT[format], bytes.length - 4));
    if (kind === 3) bytes.fill(0, below(bytes.length), bytes.length);
    if (kind === 4) (bases[(at + 1) % bases.length] ?? noise).copy(bytes, 12 + below(200), 12);
    if (kind === 5) for (let byte = 12; byte < bytes.length; byte += 1) bytes[byte] = below(256);
    return bytes;
  });
};

/** Pictures at the limits: 49 megapixels of each type, and one of nearly 10 MiB. */
const largePictures = async (): Promise<Buffer[]> => {
  const create = { width: 7_000, height: 7_000, channels: 3, background: '#357' } as const;
  const efforts = { png: 1, jpeg: 1, webp: 0, avif: 0, gif: 1 };
  const huge = await Promise.all(
    FORMATS.map((format) => sharp({ create }).toFormat(format, { effort: efforts[format] }).toBuffer()),
  );
  const interlaced = await sharp({ create }).png({ progressive: true }).toBuffer();
  const create10 = { width: 1_930, height: 1_770, channels: 3, background: '#000' } as const;
  const heavy = await sharp({ create: { ...create10, noise: { type: 'gaussian', mean: 128, sigma: 60 } } })
    .png({ compressionLevel: 0 })
    .toBuffer();
  return [...huge, interlaced, heavy];
};

const statusOf = async (pid: number, field: string): Promise<number> => {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(text)?.[1] ?? 0) / 1_024;
};
const childrenOf = async (pid: number): Promise<number[]> => {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.split(' ').filter(Boolean).map(Number);
};

/** What feeding pictures to a media process showed. */
export type Fed = {
  outcomes: Record<string, number>;
  /**
   * The most memory that the process and its decoder had at once, in MiB, sampled every 20 ms. The files that both have
   * mapped, Node's program first of all, count once.
   */
  peakMib: number;
  /** The most of the process alone. */
  processMib: number;
  /** Decoders that ended: replaced because they had grown, or lost to a picture. */
  decoders: number;
  seconds: number;
  isAlive: boolean;
};

/** @param heavy how often the picture of 10 MiB is sent, each time with other bytes at its end */
export const feedPictures = async (
  { sql, databaseUrl }: { sql: Database; databaseUrl: string },
  { broken, heavy }: { broken: number; heavy: number },
): Promise<Fed> => {
  await using stack = new AsyncDisposableStack();
  const server = await startPictureServer();
  stack.defer(server.close);
  const large = await largePictures();
  const tenMib = large.at(-1) ?? Buffer.alloc(0);
  const all = [
    ...(await brokenPictures(broken)),
    ...large,
    ...Array.from({ length: heavy }, (_, n) => Buffer.concat([tenMib, Buffer.from(`${n}`)])),
  ];
  for (const [n, bytes] of all.entries()) server.files.set(`/${n}`, { bytes });
  await addApplication(sql, 'hostile');
  const urls = all.map((_, n) => `${server.url}/${n}`);
  const games = Array.from({ length: Math.ceil(urls.length / 100) }, (_, n) =>
    fetchedGame({ game_id: `g-${n}`, game_icon: [], game_store_pic: urls.slice(n * 100, n * 100 + 100) }),
  );
  await upsertGames(sql, 'hostile', games);

  const env = {
    DATABASE_URL: databaseUrl,
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
  };
  const backend = openQueueBackend({ databaseUrl, prefix: 'hostile', use: 'producer', onError: () => {} });
  stack.defer(() => backend.close());
  await backend.migrate(jobSpecs.map(({ name }) => name));
  const producer = createProducer(backend, jobSpecs, () => {});
  stack.defer(() => producer.close());
  const media = await startFleetProcess('media', env);
  stack.defer(media.stop);
  const began = performance.now();
  for (const { game_id } of games)
    await producer.add(fetchPictures, { game_ids: [game_id], icons_only: false });

  const { pid } = media.process;
  const decoders = new Set<number>();
  let peakMib = 0;
  let processMib = 0;
  for (let left = urls.length; left > 0 && media.process.exitCode() === null; ) {
    for (const until = performance.now() + 500; performance.now() < until; await delay(20)) {
      const children = await childrenOf(pid);
      for (const child of children) decoders.add(child);
      const sizes = await Promise.all([
        statusOf(pid, 'VmRSS'),
        ...children.map((each) => statusOf(each, 'RssAnon')),
      ]);
      processMib = Math.max(processMib, sizes[0] ?? 0);
      peakMib = Math.max(
        peakMib,
        sizes.reduce((sum, size) => sum + size, 0),
      );
    }
    const [row] = await sql<
      { done: number }[]
    >`select count(*)::int as done from pictures where outcome is not null`;
    left = urls.length - (row?.done ?? 0);
    if (performance.now() - began > 900_000) break;
  }
  const counts = await sql<{ outcome: string; count: number }[]>`
    select coalesce(outcome, 'none') as outcome, count(*)::int as count from pictures group by 1 order by 2 desc`;
  return {
    outcomes: Object.fromEntries(counts.map(({ outcome, count }) => [outcome, count])),
    peakMib: Math.round(peakMib),
    processMib: Math.round(processMib),
    decoders: decoders.size,
    seconds: Math.round((performance.now() - began) / 100) / 10,
    isAlive: media.process.exitCode() === null,
  };
};

if (import.meta.main) {
  await using servers = await startServers();
  await using database = await servers.createDatabase();
  const fed = await feedPictures(database, { broken: Number(process.argv[2] ?? 2_500), heavy: 100 });
  process.stdout.write(`${JSON.stringify(fed, null, 2)}\n`);
}
