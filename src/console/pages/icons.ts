/** `/icons`: returns icons that were still being fetched when the page was rendered. The page polls it. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { listPicturedGames } from '#db/queries/picture-fetches.ts';
import { findIcons, type PictureSet } from '#db/queries/pictures.ts';
import { END, REQUESTED_MAX, requestedGames } from '#src/console/pages/late-parts.ts';
import { ICON_SIZES, type IconSize, iconPlace, isWaiting } from '#src/console/pages/pictures.ts';
import { HTML } from '#src/site/answers.ts';
import { html, link, type SafeHtml } from '#src/site/html.ts';
import type { ConsoleOptions } from '#src/site/options.ts';

type Iconed = { game_id: string; application_id: string; game_icon: readonly string[] };

/** A page requests its icons every second for 20 s, then every 15 s for ten minutes. */
const POLLS_MAX = 60;
const QUICK_POLLS = 20;

const isIconWaiting = ({ application_id, game_icon: [url] }: Iconed, pictures: PictureSet): boolean =>
  url !== undefined && isWaiting(pictures.get({ application_id, url }));

/** Makes a page poll the icons that are being fetched; nothing if all are there. @param size the size that the page shows */
export const awaitIcons = (
  games: readonly Iconed[],
  pictures: PictureSet,
  size: IconSize = 'small',
  polls = 0,
): SafeHtml[] => {
  const waiting = games.filter((game) => isIconWaiting(game, pictures)).map(({ game_id }) => game_id);
  if (polls >= POLLS_MAX) return [];
  const parts = Array.from({ length: Math.ceil(waiting.length / REQUESTED_MAX) }, (_, part) =>
    waiting.slice(part * REQUESTED_MAX, (part + 1) * REQUESTED_MAX),
  );
  return parts.map((game_ids) => {
    const url = link('/icons', { games: game_ids.join(' '), size, polls: polls + 1 });
    const delay = polls < QUICK_POLLS ? '1s' : '15s';
    return html`<div hidden hx-get="${url}" hx-trigger="load delay:${delay}" hx-swap="outerHTML"></div>`;
  });
};

const query = z.object({
  games: requestedGames,
  size: z.enum(ICON_SIZES).catch('small'),
  polls: z.coerce.number().int().min(0).catch(POLLS_MAX),
});

/** Adds `/icons`. */
export const addIcons = (app: FastifyInstance, { sql }: ConsoleOptions): void => {
  app.get('/icons', { config: { right: 'view' } }, async (request, reply) => {
    const { games: game_ids, size, polls } = query.parse(request.query);
    const games = await listPicturedGames(sql, game_ids);
    const pictures = await findIcons(sql, games);
    const arrived = games.filter(
      ({ application_id, game_icon: [url = ''] }) =>
        pictures.get({ application_id, url })?.has_thumbnail === true,
    );
    const icons = arrived.map((game) => iconPlace({ ...game, game_name: '' }, pictures, size, true));
    const again = awaitIcons(games, pictures, size, polls);
    return reply.type(HTML).send(String(html`${icons}${again.length === 0 ? END : again}`));
  });
};
