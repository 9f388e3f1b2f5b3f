/** The rejected games of an application, on the overview. */
import type { RejectionCount } from '#db/queries/reasons.ts';
import { appealBadge, refusedBadge } from '#src/portal/game-badges.ts';
import { gameUrl } from '#src/portal/links.ts';
import { type Problem, quote } from '#src/portal/problems.ts';
import { gameName, html, nameInText, number, type SafeHtml } from '#src/site/html.ts';

/** @param hasNote does its last note stand below it? */
const namedGame = (
  game: RejectionCount['named'][number],
  hasNote: boolean,
  refused: ReadonlySet<string>,
): SafeHtml => {
  const { application_game_id, game_name, appeal, text } = game;
  const name = html`<a href="${gameUrl(application_game_id)}" dir="auto">${gameName(game_name)}</a>`;
  const badges = html`${appealBadge(appeal)}${refusedBadge(refused.has(application_game_id))}`;
  const answer = appeal === 'upheld' && hasNote ? html`<p class="soft">The answer to your appeal:</p>` : null;
  return html`<span>${name}${badges}</span>${answer}${hasNote ? quote(text) : null}`;
};

/** Does each game of a reason wait for its appeal? Those that do are named last. */
const isAppealed = ({ named }: RejectionCount): boolean => named.every(({ appeal }) => appeal === 'open');

/** Do all rejected games wait for their appeals? @param refused those of which the latest data is not stored */
export const allWait = (rejections: readonly RejectionCount[], refused: ReadonlySet<string>): boolean =>
  refused.size === 0 && rejections.every(isAppealed);

/** A game whose appeal waits needs nothing from its developer. */
const byNeed = (rejections: readonly RejectionCount[]): RejectionCount[] =>
  rejections.toSorted((one, other) => Number(isAppealed(one)) - Number(isAppealed(other)));

const reasonOf = ({ label }: RejectionCount): SafeHtml =>
  html`<strong dir="auto">${label ?? 'no reason given'}</strong>`;

const rejection = (count: RejectionCount, refused: ReadonlySet<string>): SafeHtml => {
  const { games, text, named } = count;
  const isShared = games > 1 && text !== null;
  const more = games - named.length;
  // A game whose appeal was refused has a note of its own.
  const own = isShared ? named.filter(({ appeal }) => appeal === 'upheld') : [];
  const others = named.filter((each) => !own.includes(each));
  const all = games === 2 ? 'both' : 'all of them';
  const note = html`<p class="soft">The note of ${own.length === 0 ? all : 'these'}:</p>${quote(text)}`;
  return html`<li>
${reasonOf(count)}${games === 1 ? null : `: ${number(games)} games`}${others.map((each) => namedGame(each, !isShared, refused))}
${more === 0 ? null : html`<p class="soft">and ${number(more)} more</p>`}
${isShared && others.length + more > 0 ? note : null}
${own.map((each) => namedGame(each, true, refused))}</li>`;
};

/** The rejection of the one game that the title names. */
const onlyRejection = (count: RejectionCount, refused: ReadonlySet<string>): SafeHtml => {
  const [game] = count.named;
  const badges = html`${appealBadge(game?.appeal ?? null)}${refusedBadge(refused.size > 0)}`;
  return html`<li><span>${reasonOf(count)}${badges}</span>${game && quote(game.text)}</li>`;
};

/** Says of rejected games what is to be done: nothing, while all of their appeals wait. @param only the game, if it is one */
const rejectedTitle = (
  games: number,
  toFix: number,
  only: string | undefined,
  isWaiting: boolean,
): string => {
  if (only === undefined) {
    if (isWaiting) return `${number(games)} appeals wait for a reviewer`;
    const were = `${number(games)} games were rejected`;
    return toFix > 0 && toFix < games ? `${were}: ${number(toFix)} to fix` : were;
  }
  return isWaiting
    ? `Your appeal of ${nameInText(only)} waits for a reviewer`
    : `${nameInText(only)} was rejected`;
};

const APPEAL_ENDS =
  'If a game changes first, its new content is reviewed, and its appeal ends with that decision.';

/**
 * The games that a reviewer has rejected.
 * @param refused those of which the latest data is not stored
 * @param toFix how many of them have no appeal that waits
 */
export const rejectedProblem = (
  rejections: readonly RejectionCount[],
  refused: ReadonlySet<string>,
  toFix: number,
  isPaused: boolean,
): Problem[] => {
  const games = rejections.reduce((sum, each) => sum + each.games, 0);
  if (games === 0) return [];
  const shown = games === 1 ? onlyRejection : rejection;
  const again = isPaused ? ' and the platform reads your games again' : '';
  const mayAppeal = rejections.some(({ named }) => named.some(({ appeal }) => appeal === null));
  const orByAppeal = mayAppeal ? ', or by your one appeal' : '';
  const returns = `A game returns to review when your server answers with changed content${again}${orByAppeal}.`;
  const only = games === 1 ? rejections[0]?.named[0] : undefined;
  const isWaiting = allWait(rejections, refused);
  return [
    {
      title: rejectedTitle(games, toFix, only?.game_name, isWaiting),
      body: html`<ul class="reasons-of">${byNeed(rejections).map((each) => shown(each, refused))}</ul>
<p class="soft">${isWaiting ? APPEAL_ENDS : returns}</p>`,
      tone: isWaiting ? 'info' : 'bad',
      step:
        only === undefined
          ? { url: '/portal/games?status=rejected', act: 'All rejected games' }
          : { url: gameUrl(only.application_game_id), act: 'Open the game' },
      // Its page says no more.
      isSecond:
        isWaiting || (only === undefined && rejections.every(({ games, named }) => games === named.length)),
    },
  ];
};
