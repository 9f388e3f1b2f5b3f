import type { Database } from '#db/client.ts';
import { type Actor, recordAudit } from '#db/queries/audit.ts';
import { lockGames } from '#db/queries/decisions.ts';
import { type PackageUrl, updatePackageUrls } from '#db/queries/package-urls.ts';
import { transact } from '#db/transact.ts';
import { optionalHttpUrl } from '#src/contract/text.ts';
import { UsageError } from '#src/errors.ts';

export const PACKAGE_URLS_MAX = 10_000;

/** Games by the result for their package URL. */
export type PackageResult = { changed: string[]; unchanged: string[]; unknown: string[] };

/** Games that do not exist, when all must. Nothing is written. */
export class UnknownGamesError extends UsageError {
  readonly game_ids: string[];
  constructor(game_ids: string[]) {
    super(
      `There is no game ${game_ids[0]}${game_ids.length > 1 ? `, and ${game_ids.length - 1} others` : ''}.`,
    );
    this.game_ids = game_ids;
  }
}

const idsOf = (games: readonly { game_id: string }[]): string[] => games.map(({ game_id }) => game_id);

/** Games of one statement: between two of them, `onProgress` is called. */
const CHUNK = 1_000;

type Options = {
  /** Throw if a game does not exist. */
  allMustExist?: boolean;
  /** @param done games written in the transaction, which ends after the last */
  onProgress?: (done: number) => void;
};

/**
 * Set (or with "" clear) the package URLs of games, which `game.queryDetail` serves. Not content: no revision and no
 * status changes.
 * @throws UsageError for an invalid URL, a game that is named twice, or too many games; then nothing is written
 * @throws UnknownGamesError
 */
export const setPackageUrls = async (
  sql: Database,
  urls: readonly PackageUrl[],
  actor: Actor,
  { allMustExist = false, onProgress = () => {} }: Options = {},
): Promise<PackageResult> => {
  if (urls.length > PACKAGE_URLS_MAX)
    throw new UsageError(`Set at most ${PACKAGE_URLS_MAX} package URLs at once, not ${urls.length}.`);
  const game_ids = new Set<string>();
  for (const { game_id, game_package_url } of urls) {
    const checked = optionalHttpUrl.safeParse(game_package_url);
    if (!checked.success)
      throw new UsageError(`The package URL of ${game_id} ${checked.error.issues[0]?.message}.`);
    if (game_ids.has(game_id)) throw new UsageError(`${game_id} is named twice.`);
    game_ids.add(game_id);
  }
  return transact(sql, async (tx) => {
    if (urls.length > CHUNK) await lockGames(tx, [...game_ids]);
    const found: Awaited<ReturnType<typeof updatePackageUrls>> = [];
    for (let from = 0; from < urls.length; from += CHUNK) {
      found.push(...(await updatePackageUrls(tx, urls.slice(from, from + CHUNK))));
      onProgress(Math.min(from + CHUNK, urls.length));
    }
    const unknown = [...game_ids.difference(new Set(idsOf(found)))];
    if (allMustExist && unknown.length > 0) throw new UnknownGamesError(unknown);
    const changed = found.filter(({ former, game_package_url }) => former !== game_package_url);
    await recordAudit(
      tx,
      changed.map(({ game_id, game_package_url, former }) => ({
        ...actor,
        action: 'game.package',
        subject: `game:${game_id}`,
        details: { game_package_url, former },
      })),
    );
    const unchanged = found.filter(({ former, game_package_url }) => former === game_package_url);
    return { changed: idsOf(changed), unchanged: idsOf(unchanged), unknown };
  });
};
