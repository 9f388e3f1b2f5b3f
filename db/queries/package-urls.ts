import type { Queryable } from '#db/client.ts';

export type PackageUrl = { game_id: string; game_package_url: string };

/**
 * Sets the package URLs of games, in the order in which `upsertGames` locks. It changes no revision and no status.
 * @returns the former URL of each game that exists; if it equals the new one, nothing was written
 */
export const updatePackageUrls = async (
  tx: Queryable,
  urls: readonly PackageUrl[],
): Promise<(PackageUrl & { former: string })[]> =>
  tx<(PackageUrl & { former: string })[]>`
    with wanted as materialized (
      select g.game_id, w.game_package_url, g.game_package_url as former
      from games g join unnest(
        ${urls.map((url) => url.game_id)}::uuid[], ${urls.map((url) => url.game_package_url)}::text[]
      ) as w(game_id, game_package_url) using (game_id)
      order by g.application_id, g.application_game_id for update of g
    ), written as (
      update games g set game_package_url = w.game_package_url, updated_at = now()
      from wanted w where g.game_id = w.game_id and w.former <> w.game_package_url
    )
    select * from wanted`;
