import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { inject } from 'vitest';
import type { Database } from '#db/client.ts';
import { upsertGames } from '#db/queries/games.ts';
import { readConfig } from '#src/config.ts';
import type { FleetPart } from '#src/processes/fleet-part.ts';
import { startMedia } from '#src/processes/media.ts';
import { fetchedGame } from '#test/support/factories.ts';
import { aPicture, type PictureServer } from '#test/support/pictures.ts';

/** A prefix of queues of their own, for a console and a media process that share them. */
export const newPrefix = (): string => `pictures-${randomUUID()}`;

/** Starts a media process over these queues. It may connect to this machine. @param env settings of pictures */
export const startTestMedia = (
  databaseUrl: string,
  prefix: string,
  env: Record<string, string> = {},
): Promise<FleetPart> => {
  const config = readConfig({ WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8', ...env });
  const redisUrl = inject('redisUrl') ?? undefined;
  return startMedia({ ...config, redisUrl, queuePrefix: prefix }, databaseUrl, pino({ level: 'silent' }));
};

/** Lands games with an icon and two pictures each, all of them served. @returns their ids in the order of the lane */
export const landPicturedGames = async (
  sql: Database,
  server: PictureServer,
  application_id: string,
  count: number,
): Promise<string[]> => {
  const games = await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const paths = [0, 1, 2].map((index) => `/${application_id}/${n}-${index}.png`);
      for (const [index, path] of paths.entries()) {
        const size = index === 0 ? { width: 256, height: 256 } : { width: 800, height: 450 };
        server.files.set(path, {
          bytes: await aPicture(n * 3 + index, 'png', size),
          etag: `"${n}-${index}"`,
        });
      }
      const [icon = '', ...pictures] = paths.map((path) => server.url + path);
      return fetchedGame({
        game_id: `g-${n}`,
        game_name: `${application_id} ${n}`,
        game_icon: [icon],
        game_store_pic: pictures,
      });
    }),
  );
  const ordered = games.toSorted((a, b) => (a.game_id < b.game_id ? -1 : 1));
  for (const game of ordered) await upsertGames(sql, application_id, [game]);
  return ordered.map(({ game_id }) => game_id);
};
