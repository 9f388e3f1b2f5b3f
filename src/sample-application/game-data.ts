import type { ApplicationGameDetail, KycRecord } from '#src/contract/application.ts';
import { gameIdsOf, generateGame } from '#src/sample-application/games.ts';
import { generateKycRecord } from '#src/sample-application/kyc.ts';

/** An application's own games, in order, and its developer's record. Mutable: what it says is what is served. */
export type SampleCatalogue = {
  readonly size: number;
  /** The games of a page, in order; [] past the end. Pages count from 1. */
  page(pageNum: number, pageSize: number): ApplicationGameDetail[];
  get(gameId: string): ApplicationGameDetail | null;
  /** A new game at the end, or a removed one that comes back. Throws when the game is already there. */
  add(game: ApplicationGameDetail): void;
  /** Throws when the game is not there. */
  update(gameId: string, changes: Partial<Omit<ApplicationGameDetail, 'game_id'>>): void;
  /** The removed game, so that it can be added again. Throws when it is not there. */
  remove(gameId: string): ApplicationGameDetail;
  /** Every game, in order. */
  all(): ApplicationGameDetail[];
  /** null: the application has no record to give (section 4.3). */
  kyc: KycRecord | null;
};

export type SampleCatalogueOptions = {
  /** How many games. */
  games: number;
  /** The same seed makes the same games. */
  seed: string;
  /** Where pictures and videos are served. */
  baseUrl: string;
};

/** A believable catalogue, generated game by game when it is asked for: a million games cost eight megabytes. */
export const createSampleCatalogue = ({ games, seed, baseUrl }: SampleCatalogueOptions): SampleCatalogue => {
  const ids = gameIdsOf(seed);
  const ordinals = Array.from({ length: games }, (_, ordinal) => ordinal);
  const removed = new Set<number>();
  const changed = new Map<number, ApplicationGameDetail>();
  const added = new Map<string, ApplicationGameDetail>();

  const generated = (ordinal: number): ApplicationGameDetail =>
    changed.get(ordinal) ?? generateGame(seed, ordinal, ids, baseUrl);

  /** The place of a generated game that is still there. */
  const ordinalOf = (gameId: string): number | null => {
    const ordinal = ids.ordinalOf(gameId);
    return ordinal === null || ordinal >= games || removed.has(ordinal) ? null : ordinal;
  };

  const get = (gameId: string): ApplicationGameDetail | null => {
    const own = added.get(gameId);
    if (own !== undefined) return own;
    const ordinal = ordinalOf(gameId);
    return ordinal === null ? null : generated(ordinal);
  };

  const known = (gameId: string): ApplicationGameDetail => {
    const game = get(gameId);
    if (game === null) throw new RangeError(`no game ${gameId} in this catalogue`);
    return game;
  };

  const slice = (from: number, to: number): ApplicationGameDetail[] => [
    ...ordinals.slice(from, to).map(generated),
    ...[...added.values()].slice(Math.max(from - ordinals.length, 0), Math.max(to - ordinals.length, 0)),
  ];

  return {
    get size() {
      return ordinals.length + added.size;
    },
    page: (pageNum, pageSize) => slice((pageNum - 1) * pageSize, pageNum * pageSize),
    get,
    all: () => slice(0, ordinals.length + added.size),
    add: (game) => {
      if (get(game.game_id) !== null)
        throw new RangeError(`game ${game.game_id} is already in this catalogue`);
      added.set(game.game_id, game);
    },
    update: (gameId, changes) => {
      const game = { ...known(gameId), ...changes };
      const ordinal = ordinalOf(gameId);
      if (ordinal === null) added.set(gameId, game);
      else changed.set(ordinal, game);
    },
    remove: (gameId) => {
      const game = known(gameId);
      const ordinal = ordinalOf(gameId);
      if (ordinal === null) {
        added.delete(gameId);
      } else {
        removed.add(ordinal);
        ordinals.splice(ordinals.indexOf(ordinal), 1);
      }
      return game;
    },
    kyc: generateKycRecord(seed),
  };
};
