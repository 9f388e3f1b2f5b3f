// How long does it take to bring a catalogue? `game import` of a file, killed once and run again, and `game export`:
// node test/bench/import.ts [games]. Each game is decided and has an icon and two pictures.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServers } from '#test/bench/servers.ts';
import { aDetail, addApplication } from '#test/support/factories.ts';

const games = Number(process.argv[2] ?? 1_000_000);

await using servers = await startServers();
await using database = await servers.createDatabase();
await addApplication(database.sql);
const file = join(servers.home, 'games.ndjson');

const { game_info: game_desc, game_id: _, ...content } = aDetail();
const out = createWriteStream(file);
for (let n = 0; n < games; n += 1) {
  const own = {
    game_icon: [`https://cdn.example/${n}/icon.png`],
    game_store_pic: [`https://cdn.example/${n}/1.png`, `https://cdn.example/${n}/2.png`],
  };
  const line = JSON.stringify({
    application_game_id: `g-${n}`,
    ...content,
    ...own,
    game_desc: `${game_desc} ${n}`,
    audit_status: 'passed',
    audit_time: '2024-02-29T12:00:00Z',
    decided_by: 'kim',
  });
  if (!out.write(`${line}\n`)) await once(out, 'drain');
}
out.end();
await once(out, 'finish');

const run = (args: string[]) =>
  spawn(process.execPath, ['src/cli/catalogue.ts', 'game', ...args], {
    env: { PATH: process.env.PATH, CATALOGUE_HOME: servers.home, DATABASE_URL: database.databaseUrl },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
const importArgs = ['import', '--application', 'acme', '--file', file, '--by', 'bench'];
const say = (text: string): void => void process.stdout.write(`${text}\n`);
/** Runs a command to its end. @returns seconds */
const time = async (args: string[]): Promise<{ seconds: number; bytes: number; last: string }> => {
  const from = performance.now();
  const child = run(args);
  let bytes = 0;
  let last = '';
  child.stdout.on('data', (chunk) => {
    bytes += chunk.length;
    last = String(chunk);
  });
  const [exit] = await once(child, 'close');
  if (exit !== 0) throw new Error(`exit ${exit}`);
  return { seconds: (performance.now() - from) / 1_000, bytes, last };
};

const from = performance.now();
const victim = run(importArgs);
const count = async (): Promise<number> => (await database.sql`select audit_id from game_audits`).count;
while ((await count()) < games / 20) await sleep(200);
victim.kill('SIGKILL');
await once(victim, 'close');
const killed = (performance.now() - from) / 1_000;
const again = await time(importArgs);
say(`killed after ${killed.toFixed(1)} s, then ${again.seconds.toFixed(1)} s: ${again.last.trim()}`);
const exported = await time(['export']);
say(`export: ${exported.seconds.toFixed(1)} s, ${(exported.bytes / 1e6).toFixed(0)} MB`);
await rm(file);
