import { afterAll, beforeAll, expect } from 'vitest';
import type { Database } from '#db/client.ts';
import { upsertGames } from '#db/queries/games.ts';
import { carryOverDecisionsJob } from '#jobs/carry-over-decisions.ts';
import type { ApplicationGameDetail } from '#src/contract/application.ts';
import type { Pictures } from '#src/pictures/refresh.ts';
import { addApplication, fetchedGame, KIM } from '#test/support/factories.ts';
import { oneGame } from '#test/support/landed.ts';
import { decideGames } from '#test/support/operate.ts';
import { startPictures } from '#test/support/picture-refresh.ts';
import { aPicture, type PictureServer } from '#test/support/pictures.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

export type Changes = Partial<ApplicationGameDetail>;

/** Games whose pictures are on a server of the test, and the job that carries decisions over. */
export const useCarryOver = () => {
  const database = useTestDatabase();
  const signal = new AbortController().signal;
  let server: PictureServer;
  let pictures: Pictures;
  let close: () => Promise<void>;
  let media: Database;
  let worker: Database;
  let reviewer: Database;

  beforeAll(async () => {
    media = database.as('media');
    worker = database.as('worker');
    reviewer = database.as('console');
    ({ server, pictures, close } = await startPictures(media));
    await addApplication(database.sql, 'acme');
  });
  afterAll(() => close?.());

  let minute = 0;
  /** Lands a game with an icon and two pictures in a folder of the server. */
  const land = async (game_id: string, folder: string, changes: Changes = {}) => {
    minute += 1;
    const at = (name: string) => `${server.url}/${folder}/${name}.png`;
    const detail = {
      game_icon: [at('icon')],
      game_store_pic: [at('1'), at('2')],
      game_store_video: '',
      ...changes,
    };
    const game = fetchedGame({ game_id, ...detail }, new Date(Date.UTC(2026, 0, 1, 0, minute)));
    await upsertGames(worker, 'acme', [game]);
  };
  /** Puts the files of a game into a folder. */
  const serve = async (folder: string, seeds: readonly number[]) => {
    for (const [index, name] of ['icon', '1', '2'].entries()) {
      const seed = seeds[index];
      if (seed === undefined) server.files.delete(`/${folder}/${name}.png`);
      else server.files.set(`/${folder}/${name}.png`, { bytes: await aPicture(seed), etag: `"${seed}"` });
    }
  };
  const gameOf = (id: string) => oneGame(database.sql, 'acme', id);
  const decide = async (id: string, audit_status: 'passed' | 'rejected' = 'passed') => {
    const { game_id, revision, game_icon, game_store_pic } = await gameOf(id);
    for (const url of [...game_icon, ...game_store_pic])
      await pictures.refresh({ application_id: 'acme', url }, 'look', signal);
    const details =
      audit_status === 'rejected' ? { reason: 'rights', text: 'Whose logo is it?', note: 'hm' } : {};
    const { games } = await decideGames(reviewer, [{ game_id, revision }], { audit_status, ...details }, KIM);
    expect(games[0]?.result).toBe('decided');
  };
  const carry = async () => {
    await database.sql`update changed_games set carry_at = now() where carry_at is not null`;
    await database.sql`update pictures set fresh_until = now()`;
    return carryOverDecisionsJob.handler({}, { deps: { sql: media, pictures }, signal } as never);
  };
  const auditsOf = async (id: string) => {
    const { game_id } = await gameOf(id);
    return database.sql<{ audit_id: number; decided_by: string; carried_over_from: number | null }[]>`
      select audit_id::int, audit_status, revision, decided_by, reason, text, note, carried_over_from::int
      from game_audits where game_id = ${game_id} order by audit_id`;
  };
  const carryAt = async (id: string) => {
    const { game_id } = await gameOf(id);
    const [row] = await database.sql<{ carry_at: Date | null }[]>`
      select carry_at from changed_games where game_id = ${game_id}`;
    return row?.carry_at;
  };
  return {
    database,
    signal,
    land,
    serve,
    gameOf,
    decide,
    carry,
    auditsOf,
    carryAt,
    world: () => ({ server, pictures, media, worker, reviewer }),
  };
};
