import { listPicturedGames, saveIconHashes } from '#db/queries/picture-fetches.ts';
import { fetchPictures } from '#src/ingest/specs.ts';
import type { MediaContext } from '#src/pictures/dependencies.ts';
import { defineJob } from '#src/queue/job.ts';

/** Fetches the pictures of games that an operator is about to see: icons first, each address once for an application. */
export const fetchPicturesJob = defineJob(
  fetchPictures,
  async ({ game_ids, icons_only }, { deps, signal, postpone }: MediaContext) => {
    const { sql, pictures } = deps;
    const found = await listPicturedGames(sql, game_ids);
    const games = game_ids.flatMap((id) => found.find(({ game_id }) => game_id === id) ?? []);
    const addressesIn = (field: 'game_icon' | 'game_store_pic') =>
      games.flatMap(({ application_id, ...game }) => game[field].map((url) => ({ url, application_id })));
    const wanted = [...addressesIn('game_icon'), ...(icons_only ? [] : addressesIn('game_store_pic'))];
    const different = new Map(wanted.map((picture) => [`${picture.application_id} ${picture.url}`, picture]));
    const results = await Promise.all(
      [...different.values()].map((picture) => pictures.refresh(picture, 'look', signal)),
    );
    await saveIconHashes(sql, games);
    const busy = results.flatMap(({ failure }) =>
      failure?.outcome === 'busy' ? [failure.retryAfterMs ?? 0] : [],
    );
    const requested = results.filter(({ outcome }) => outcome !== undefined);
    const hasProgressed = requested.some(({ outcome }) => outcome !== 'busy');
    const later = postpone(busy.length === 0 ? undefined : Math.max(...busy), hasProgressed);
    if (later !== undefined) throw later;
    return {
      pictures: different.size,
      requested: requested.length,
      shown: results.filter(({ outcome }) => outcome === 'shown').length,
    };
  },
);
