import { z } from 'zod';
import { lockGames } from '#db/queries/decisions.ts';
import { updatePackageUrls } from '#db/queries/package-urls.ts';
import { optionalHttpUrl } from '#src/contract/text.ts';
import { StateError } from '#src/errors.ts';
import { defineOperation } from '#src/operations/operation.ts';

const PACKAGE_URLS_MAX = 10_000;
/** Games of one statement. The caller receives the progress after each. */
const CHUNK = 1_000;

/** Games by the result for their package URL. */
export type PackageResult = { changed: string[]; unchanged: string[]; unknown: string[] };

/** Games that do not exist, when all must. Nothing is written. */
export class UnknownGamesError extends StateError {
  readonly game_ids: string[];
  constructor(game_ids: string[]) {
    super(
      `There is no game ${game_ids[0]}${game_ids.length > 1 ? `, and ${game_ids.length - 1} others` : ''}.`,
    );
    this.game_ids = game_ids;
  }
}

const idsOf = (games: readonly { game_id: string }[]): string[] => games.map(({ game_id }) => game_id);

/** The package URL of a game. "" clears it. */
export const packageUrl = z.object({
  game_id: z.guid('is not a whole id').toLowerCase(),
  game_package_url: optionalHttpUrl,
});

/** A package URL is no content, so no revision and no status changes. */
export const setPackageUrls = defineOperation({
  name: 'game.package',
  title: 'Set the package URLs that game.queryDetail serves',
  answer: z.object({ changed: z.array(z.guid()), unchanged: z.array(z.guid()), unknown: z.array(z.guid()) }),
  right: 'decide',
  input: z.object({
    urls: z
      .array(packageUrl)
      .min(1, 'must name at least one game')
      .max(PACKAGE_URLS_MAX, `must be at most ${PACKAGE_URLS_MAX}`)
      .refine((urls) => new Set(idsOf(urls)).size === urls.length, 'names a game twice'),
    /** Change nothing if a game does not exist. */
    all_must_exist: z.boolean().default(false),
  }),
  subject: ({ urls }) => `game:${urls.length === 1 ? urls[0]?.game_id : '*'}`,
  run: async (tx, { urls, all_must_exist }, { onProgress }) => {
    const game_ids = idsOf(urls);
    if (urls.length > CHUNK) await lockGames(tx, game_ids);
    const found: Awaited<ReturnType<typeof updatePackageUrls>> = [];
    for (let from = 0; from < urls.length; from += CHUNK) {
      found.push(...(await updatePackageUrls(tx, urls.slice(from, from + CHUNK))));
      onProgress?.(Math.min(from + CHUNK, urls.length), urls.length);
    }
    const unknown = [...new Set(game_ids).difference(new Set(idsOf(found)))];
    if (all_must_exist && unknown.length > 0) throw new UnknownGamesError(unknown);
    const changed = found.filter(({ former, game_package_url }) => former !== game_package_url);
    const unchanged = found.filter(({ former, game_package_url }) => former === game_package_url);
    return { changed, unchanged: idsOf(unchanged), unknown };
  },
  log: ({ changed }) => changed.map(({ game_id, ...details }) => ({ subject: `game:${game_id}`, details })),
  after: async ({ changed, ...others }): Promise<PackageResult> => ({ changed: idsOf(changed), ...others }),
});
