import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import type { Database } from '#db/client.ts';
import { upsertGames } from '#db/queries/games.ts';
import { pruneThumbnails } from '#db/queries/picture-keeping.ts';
import { createEgressPolicy } from '#src/egress/egress.ts';
import { createReopenGames } from '#src/operations/reopen-games.ts';
import { createDecoder } from '#src/pictures/decoder.ts';
import { createPictures } from '#src/pictures/refresh.ts';
import { drawPicture } from '#src/sample-application/pictures.ts';
import { say, withDatabase } from '#test/bench/api-database.ts';
import { fetchedGame, KIM } from '#test/support/factories.ts';
import { decideGames, undoGameDecisions } from '#test/support/operate.ts';
import { startPictureServer } from '#test/support/pictures.ts';

// What pictures cost: `node test/bench/pictures.ts [games]`. Each game has an icon (PNG, 512 x 512) and three pictures
// (1280 x 720: JPEG, WebP, PNG) with the grain of a photograph. The server of the pictures is in this process.
const games = Number(process.argv[2] ?? 100);
const signal = new AbortController().signal;

/** A drawing under grain: the sizes of real store pictures. */
const aStorePicture = async (
  key: string,
  extension: 'png' | 'jpg' | 'webp',
  isIcon: boolean,
): Promise<Buffer> => {
  const drawn = sharp(await drawPicture(key, isIcon ? 'icon' : 'shot', 'png'));
  const { width, height } = await drawn.metadata();
  const grain = sharp({
    create: {
      width,
      height,
      channels: 3,
      background: '#888',
      noise: { type: 'gaussian', mean: 128, sigma: 24 },
    },
  }).blur(1.2);
  const mixed = drawn.composite([{ input: await grain.png().toBuffer(), blend: 'soft-light' }]);
  if (extension === 'png') return mixed.png({ palette: !isIcon }).toBuffer();
  return extension === 'jpg'
    ? mixed.jpeg({ quality: 85 }).toBuffer()
    : mixed.webp({ quality: 80 }).toBuffer();
};

/** CPU time of a process in milliseconds. */
const cpuOf = async (pid: number | undefined): Promise<number> => {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
};

const TABLES = ['pictures', 'picture_contents', 'picture_thumbnails', 'picture_pins', 'game_icon_hashes'];

const sizes = async (sql: Database): Promise<number> => {
  let total = 0;
  for (const table of TABLES) {
    await sql.unsafe(`vacuum full ${table}`);
    const [row] = await sql<{ bytes: number }[]>`select pg_total_relation_size(${table}::regclass) as bytes`;
    say(`  ${table.padEnd(20)} ${((row?.bytes ?? 0) / games).toFixed(0).padStart(8)} bytes a game`);
    total += row?.bytes ?? 0;
  }
  return total;
};

await withDatabase(async (sql) => {
  const server = await startPictureServer();
  const decoder = createDecoder();
  const egress = createEgressPolicy({ allowHttp: true, allowNetworks: ['127.0.0.0/8'] });
  const pictures = createPictures({
    reopenGames: createReopenGames(sql),
    sql,
    egress,
    decoder,
    maxBytes: 10 ** 7,
    recheckMs: 1_000 * 86_400,
  });
  const ids: string[] = [];
  let bytes = 0;
  for (let n = 0; n < games; n += 1) {
    const kinds = [
      ['png', true],
      ['jpg', false],
      ['webp', false],
      ['png', false],
    ] as const;
    const urls = await Promise.all(
      kinds.map(async ([extension, isIcon], index) => {
        const content = await aStorePicture(`${n} ${index}`, extension, isIcon);
        bytes += content.length;
        server.files.set(`/${n}-${index}`, { bytes: content, etag: `"${n}-${index}"` });
        return `${server.url}/${n}-${index}`;
      }),
    );
    const [icon = '', ...shots] = urls;
    const game = fetchedGame({ game_id: `g-${n}`, game_icon: [icon], game_store_pic: shots });
    await upsertGames(sql, 'app-0', [game]);
    ids.push(game.game_id);
  }
  const urls = [...server.files.keys()].map((path) => server.url + path);
  say(`${urls.length} pictures of ${(bytes / urls.length / 1_024).toFixed(0)} KiB`);

  const run = async (what: string, purpose: 'look' | 'check') => {
    const [own, child] = [process.cpuUsage(), purpose === 'look' ? 0 : await cpuOf(decoder.pid())];
    const began = performance.now();
    await Promise.all(urls.map((url) => pictures.refresh({ url, application_id: 'acme' }, purpose, signal)));
    const seconds = (performance.now() - began) / 1_000;
    const used = process.cpuUsage(own);
    const ownMs = (used.user + used.system) / 1_000 / urls.length;
    const childMs = ((await cpuOf(decoder.pid())) - child) / urls.length;
    say(
      `${what}: ${ownMs.toFixed(1)} ms of CPU a picture in the process, ${childMs.toFixed(1)} in its decoder`,
    );
    say(
      `  ${(1_000 / (ownMs + childMs)).toFixed(0)} pictures a second a core; measured ${(urls.length / seconds).toFixed(0)} a second`,
    );
  };
  await run('fetched, decoded and stored', 'look');
  say('stored with all thumbnails:');
  await sizes(sql);

  const times: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    const some = ids.slice(round * 5, round * 5 + 5).map((game_id) => ({ game_id, revision: 1 }));
    const began = performance.now();
    await decideGames(sql, some, { audit_status: 'passed' }, KIM);
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  say(`a decision on five games, with its pins: ${times[10]?.toFixed(1)} ms`);
  const audits = await sql<{ audit_id: number }[]>`select audit_id from game_audits`;
  await undoGameDecisions(
    sql,
    audits.map(({ audit_id }) => audit_id),
    KIM,
  );
  await decideGames(
    sql,
    ids.map((game_id) => ({ game_id, revision: 1 })),
    { audit_status: 'passed' },
    KIM,
  );
  await sql`delete from picture_pins where audit_id = any(${audits.map(({ audit_id }) => audit_id)}::bigint[])`;
  await sql`update pictures set fresh_until = null`;
  await run('unchanged, asked again', 'check');
  await sql`update picture_contents set looked_at = now() - interval '1 year'`;
  await pruneThumbnails(sql, 1, 1_000_000);
  say('kept of decided games for ever:');
  const kept = await sizes(sql);
  say(`10,000,000 decided games: ${(((kept / games) * 1e7) / 2 ** 30).toFixed(0)} GiB`);
  pictures.close();
  decoder.close();
  await server.close();
});
