import type { ApplicationGameDetail } from '#src/contract/application.ts';
import { LANGUAGES } from '#src/sample-application/languages.ts';
import { picturePath, videoPath } from '#src/sample-application/media.ts';
import { type Choices, choicesFrom } from '#src/sample-application/random.ts';

/** Styles of identifiers: each application uses one. */
const ID_STYLES = ['game-', 'g', 'GM_', 'app.title.', '88'] as const;

const NUMERALS = ['II', 'III', 'IV', 'X', '2049', 'DX', 'Zero'] as const;

/** Converts between ordinals (from 0) and identifiers of games. */
export type GameIds = { of(ordinal: number): string; ordinalOf(gameId: string): number | null };

/** `seed` chooses the style: `game-000001`, `GM_000001` … */
export const createGameIds = (seed: string): GameIds => {
  const prefix = choicesFrom(`${seed} ids`).pick(ID_STYLES);
  const of = (ordinal: number): string => prefix + String(ordinal + 1).padStart(6, '0');
  const ordinalOf = (gameId: string): number | null => {
    const ordinal = Number(gameId.slice(prefix.length)) - 1;
    return Number.isSafeInteger(ordinal) && ordinal >= 0 && of(ordinal) === gameId ? ordinal : null;
  };
  return { of, ordinalOf };
};

const pictures = (baseUrl: string, gameId: string, kind: 'icon' | 'shot', count: number): string[] =>
  Array.from({ length: count }, (_, index) => baseUrl + picturePath(gameId, kind, index));

/** Most games have one icon, some two, some none (section 2.5). */
const iconCount = (choices: Choices): number => {
  if (choices.chance(0.06)) return 0;
  return choices.chance(0.2) ? 2 : 1;
};

/** The detail of the game with this ordinal (section 2.5). It depends on seed and ordinal only, so no game is stored. */
export const generateGame = (
  seed: string,
  ordinal: number,
  ids: GameIds,
  baseUrl: string,
): ApplicationGameDetail => {
  const choices = choicesFrom(`${seed} ${ordinal}`);
  const language = choices.pick(LANGUAGES);
  const pickFrom = (words: string): string => choices.pick(words.split('|') as [string, ...string[]]);
  const title = pickFrom(language.first) + language.joiner + pickFrom(language.second);
  const name = choices.chance(0.3) ? `${title} ${choices.pick(NUMERALS)}` : title;
  const fillIn = (sentence: string): string => sentence.replaceAll('%', name);
  const paragraphs = [
    `${fillIn(pickFrom(language.opening))} ${pickFrom(language.body)}`,
    pickFrom(language.closing),
  ];
  const gameId = ids.of(ordinal);
  const icons = iconCount(choices);
  return {
    game_id: gameId,
    game_name: name,
    game_icon: pictures(baseUrl, gameId, 'icon', icons),
    game_info: choices.chance(0.05) ? '' : paragraphs.join('\n\n'),
    game_store_video: choices.chance(0.25) ? baseUrl + videoPath(gameId) : '',
    game_store_pic: choices.chance(0.1) ? [] : pictures(baseUrl, gameId, 'shot', 1 + choices.below(5)),
  };
};
