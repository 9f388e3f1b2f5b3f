import { randomUUIDv7 } from 'node:crypto';
import type { Database } from '#db/client.ts';
import { type FetchedGame, upsertGames } from '#db/queries/games.ts';
import { say, withDatabase } from '#test/bench/api-database.ts';
import { emptyContent } from '#test/support/factories.ts';

/** Cost of the count triggers for writers: batches of 100 games, in turns with and without the triggers. */
const BATCH = 100;
const TURNS = 40;
const BATCHES_A_TURN = 25;

const game = (id: string, version: number): FetchedGame => ({
  game_id: randomUUIDv7(),
  application_game_id: id,
  ...emptyContent(),
  game_name: `Game ${id}`,
  game_icon: ['https://cdn.example/icon.png'],
  game_desc: 'A game to play. '.repeat(30),
  game_store_pic: ['https://cdn.example/1.png', 'https://cdn.example/2.png'],
  content_hash: `${id}.${version}`,
  addresses_end_at: null,
  list_hash: '',
  fetched_at: new Date(),
});

const upsert = (sql: Database, batch: FetchedGame[]) => sql.begin((tx) => upsertGames(tx, 'app-1', batch));

await withDatabase(async (sql) => {
  let next = 0;
  let version = 1;
  const kinds: Record<string, () => FetchedGame[]> = {
    new: () => Array.from({ length: BATCH }, () => game(`g${next++}`, 1)),
    unchanged: () => Array.from({ length: BATCH }, (_, i) => game(`u${i}`, 1)),
    changed: () => {
      version += 1;
      return Array.from({ length: BATCH }, (_, i) => game(`c${i}`, version));
    },
  };
  for (const [kind, make] of Object.entries(kinds)) {
    const times: Record<string, number[]> = { enable: [], disable: [] };
    for (let turn = 0; turn < TURNS; turn += 1) {
      const state = turn % 2 === 0 ? 'enable' : 'disable';
      await sql.unsafe(`alter table games ${state} trigger user`);
      await upsert(sql, make());
      for (let i = 0; i < BATCHES_A_TURN; i += 1) {
        const batch = make();
        const from = performance.now();
        await upsert(sql, batch);
        times[state]?.push(performance.now() - from);
      }
    }
    const of = (state: string) => {
      const sorted = times[state]?.toSorted((a, b) => a - b) ?? [];
      // The mean without the slowest 5 %, which checkpoints cause.
      const kept = sorted.slice(0, Math.floor(sorted.length * 0.95));
      return { mean: kept.reduce((a, b) => a + b, 0) / kept.length, p50: sorted[sorted.length / 2] ?? 0 };
    };
    const [without, counted] = [of('disable'), of('enable')];
    say(
      `${kind}: without ${without.mean.toFixed(2)} ms (p50 ${without.p50.toFixed(2)}), counted ${counted.mean.toFixed(2)} ms (p50 ${counted.p50.toFixed(2)}): ${((counted.mean / without.mean - 1) * 100).toFixed(1)} %`,
    );
  }
  for (const state of ['disable', 'enable', 'disable', 'enable']) {
    await sql.unsafe(`alter table games ${state} trigger user`);
    const from = performance.now();
    const { count } =
      await sql`update games set withdrawn_at = ${state === 'enable' ? null : new Date()} where application_game_id like 'g%'`;
    say(`${count} withdrawn or restored, triggers ${state}d: ${Math.round(performance.now() - from)} ms`);
  }
});
