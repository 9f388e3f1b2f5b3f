import type { ApplicationGameDetail, KycRecord } from '#src/contract/application.ts';
import { createGameIds, generateGame } from '#src/sample-application/games.ts';
import { generateKycRecord } from '#src/sample-application/kyc.ts';

/** The games of an application, in order, and its KYC record. Changes are served at once. */
export type SampleGames = {
  readonly size: number;
  /** The games of a page; [] past the end. Pages count from 1. */
  page(pageNum: number, pageSize: number): ApplicationGameDetail[];
  get(gameId: string): ApplicationGameDetail | null;
  /** Appends a game. Throws if the game exists. */
  add(game: ApplicationGameDetail): void;
  /** Throws if the game does not exist. */
  update(gameId: string, changes: Partial<Omit<ApplicationGameDetail, 'game_id'>>): void;
  /** Returns the removed game. Throws if the game does not exist. */
  remove(gameId: string): ApplicationGameDetail;
  all(): ApplicationGameDetail[];
  /** null: the application has no record (section 4.3). */
  kyc: KycRecord | null;
};

export type SampleGamesOptions = {
  games: number;
  /** The same seed generates the same games. */
  seed: string;
  /** The origin of pictures and videos. */
  baseUrl: string;
};

/** Realistic games, generated when they are read, so that a million games need only 8 MB. */
export const createSampleGames = ({ games, seed, baseUrl }: SampleGamesOptions): SampleGames => {
  const ids = createGameIds(seed);
  const ordinals = Array.from({ length: games }, (_, ordinal) => ordinal);
  const removed = new Set<number>();
  const changed = new Map<number, ApplicationGameDetail>();
  const added = new Map<string, ApplicationGameDetail>();

  const generated = (ordinal: number): ApplicationGameDetail =>
    changed.get(ordinal) ?? generateGame(seed, ordinal, ids, baseUrl);

  /** The ordinal of a generated game that is not removed. */
  const ordinalOf = (gameId: string): number | null => {
    const ordinal = ids.ordinalOf(gameId);
    return ordinal === null || ordinal >= games || removed.has(ordinal) ? null : ordinal;
  };

  const get = (gameId: string): ApplicationGameDetail | null => {
    const addedGame = added.get(gameId);
    if (addedGame !== undefined) return addedGame;
    const ordinal = ordinalOf(gameId);
    return ordinal === null ? null : generated(ordinal);
  };

  const requireGame = (gameId: string): ApplicationGameDetail => {
    const game = get(gameId);
    if (game === null) throw new RangeError(`game ${gameId} does not exist`);
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
      if (get(game.game_id) !== null) throw new RangeError(`game ${game.game_id} exists`);
      added.set(game.game_id, game);
    },
    update: (gameId, changes) => {
      const game = { ...requireGame(gameId), ...changes };
      const ordinal = ordinalOf(gameId);
      if (ordinal === null) added.set(gameId, game);
      else changed.set(ordinal, game);
    },
    remove: (gameId) => {
      const game = requireGame(gameId);
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
