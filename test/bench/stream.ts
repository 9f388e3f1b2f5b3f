// What does the platform's stream cost at ingest? CPU of Postgres a game, in turns with and without its trigger, for new
// games in batches of 100, with the assignment of positions: node test/bench/stream.ts [turns]
import { readFile } from 'node:fs/promises';
import { openDatabase } from '#db/client.ts';
import { upsertGames } from '#db/queries/games.ts';
import { placeEvents } from '#src/events/place-events.ts';
import { median } from '#test/bench/report.ts';
import { startServers } from '#test/bench/servers.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';

const turns = Number(process.argv[2] ?? 9);
const BATCHES = 50;
const BATCH = 100;

await using servers = await startServers();
await using database = await servers.createDatabase();
const sql = openDatabase(database.databaseUrl, { max: 1, applicationName: 'bench' });
await addApplication(sql);
const [{ pid } = { pid: 0 }] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;

/** CPU time of the session, in microseconds. */
const cpuUs = async (): Promise<number> =>
  Number((await readFile(`/proc/${pid}/schedstat`, 'utf8')).split(' ')[0]) / 1_000;

let games = 0;
const ingest = async (streamed: boolean): Promise<number> => {
  await sql.unsafe(
    `alter table game_revisions ${streamed ? 'enable' : 'disable'} trigger game_revisions_stream`,
  );
  const batches = Array.from({ length: BATCHES }, () =>
    Array.from({ length: BATCH }, () => fetchedGame({ game_id: `g-${games++}` }, new Date())),
  );
  const before = await cpuUs();
  for (const batch of batches) await upsertGames(sql, 'acme', batch);
  await placeEvents(sql, 'stream_events');
  return ((await cpuUs()) - before) / (BATCHES * BATCH);
};

await ingest(true);
const rows: { off: number; on: number }[] = [];
for (let turn = 0; turn < turns; turn += 1) {
  const first = turn % 2 === 0;
  const one = await ingest(first);
  const two = await ingest(!first);
  rows.push(first ? { on: one, off: two } : { on: two, off: one });
}
await sql.end();
const of = (pick: (row: { off: number; on: number }) => number) => median(rows.map(pick)).toFixed(1);
process.stdout.write(
  `CPU of Postgres a game: ${of(({ off }) => off)} µs without the stream, ${of(({ on }) => on)} µs with it, ${of(({ on, off }) => on - off)} µs more (medians of ${turns} turns)\n`,
);
