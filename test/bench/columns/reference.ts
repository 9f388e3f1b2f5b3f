import postgres from 'postgres';
import { endWithParent } from '#test/bench/processes.ts';

/** What the columns that we compare ourselves with are told. */
export type ReferenceRequest = {
  databaseUrl: string;
  redisUrl: string;
  ports: number[];
  /** Games of each application, a multiple of a hundred. */
  games: number;
  concurrency: number;
};

export type Detail = {
  game_id: string;
  game_name: string;
  game_icon: string[];
  game_info: string;
  game_store_video: string;
  game_store_pic: string[];
};

/** A table without any of our keeping: no revisions, no counters, no runs. */
export const createReferenceTable = async (databaseUrl: string): Promise<void> => {
  const sql = postgres(databaseUrl, { max: 1 });
  await sql`
    create table reference_games (
      game_id uuid primary key, application_id text not null, application_game_id text not null,
      game_name text not null, game_icon text[] not null, game_desc text not null,
      game_store_video text not null, game_store_pic text[] not null,
      audit_status text not null default 'pending', updated_at timestamptz not null default now(),
      unique (application_id, application_game_id))`;
  await sql.end();
};

/** Answer `{ go: request }` with `{ wallMs }`, the time that `work` took. */
export const answerGo = (work: (request: ReferenceRequest) => Promise<void>): void => {
  endWithParent();
  process.on('message', async (message: { go?: ReferenceRequest }) => {
    if (message.go === undefined) return;
    const from = performance.now();
    await work(message.go);
    process.send?.({ wallMs: performance.now() - from });
  });
  process.send?.({ ready: true });
};
