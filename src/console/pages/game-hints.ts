/** What else may decide a game. Each hint says what it rests on; none decides. */
import { HISTORY_DAYS, HISTORY_MAX, type RecentRejection } from '#db/queries/decision-history.ts';
import type { SimilarGame } from '#db/queries/similar-icons.ts';
import type { SimilarName } from '#db/queries/similar-names.ts';
import { describeVerdict } from '#src/console/pages/application-standing.ts';
import type { GameView } from '#src/console/pages/game-view.ts';
import { iconPlace } from '#src/console/pages/pictures.ts';
import { oddLetters } from '#src/rules/text-hints.ts';
import {
  ago,
  badge,
  facts,
  gameName,
  html,
  mono,
  number,
  type SafeHtml,
  section,
  statusBadges,
} from '#src/site/html.ts';

const similarGame = (game: SimilarGame, { pictures }: GameView): SafeHtml => html`<li class="similar">
${iconPlace({ ...game, game_id: `like-${game.game_id}` }, pictures.pictures, 'large')}
<div><a href="/games/${game.game_id}">${gameName(game.game_name)}</a>
<span class="meta" dir="auto">${game.application_name}</span>${statusBadges(game)}</div></li>`;

/** Other games with the same icon, those of other applications first. */
export const similarIcons = (view: GameView): SafeHtml | null => {
  const { similar, hasMoreSimilar } = view.pictures;
  if (similar.length === 0) return null;
  const others = similar.some(({ application_id }) => application_id !== view.game.application_id);
  const title = others ? 'Another application has this icon' : 'Other games have this icon';
  const more = hasMoreSimilar ? html`<p class="soft">There are more.</p>` : null;
  return section(
    title,
    html`<div class="body"><ul class="similars">${similar.map((game) => similarGame(game, view))}</ul>
${more}<p class="soft">The pictures are the same, or nearly.</p></div>`,
    { tone: others ? 'warn' : undefined, id: 'same-icon' },
  );
};

const upTo = (count: number): string =>
  count > HISTORY_MAX ? `more than ${number(HISTORY_MAX)}` : number(count);

const similarName = (
  { game_id, game_name, application_name, ...game }: SimilarName,
  isOwn: boolean,
): SafeHtml =>
  html`<li><a href="/games/${game_id}" dir="auto">${gameName(game_name)}</a>
${statusBadges(game)} ${isOwn ? null : html`<span class="meta" dir="auto">${application_name}</span>`}</li>`;

const recentRejection = ({ game_id, game_name, audit_time, reason_label }: RecentRejection): SafeHtml =>
  html`<li><a href="/games/${game_id}" dir="auto">${gameName(game_name)}</a>
<span class="meta">${reason_label ?? 'No reason given'} ·\u00a0${ago(audit_time)}</span></li>`;

/** Shows the warnings of the hints beside the name, because the hints may be below the first screen. Each links to its hint. */
export const hintMarks = ({ game, hints, pictures }: GameView): SafeHtml[] => {
  const isElsewhere = ({ application_id }: { application_id: string }) =>
    application_id !== game.application_id;
  const mark = (word: string, id = 'hints'): SafeHtml =>
    html` <a class="badge warn" href="#${id}">${word}</a>`;
  return [
    ...(pictures.similar.some(isElsewhere) ? [mark('same icon elsewhere', 'same-icon')] : []),
    ...(hints.names.some(isElsewhere) ? [mark('similar name elsewhere')] : []),
    ...oddLetters(game.game_name).map((word) => mark(word)),
    ...(hints.contacts.length > 0 ? [mark('contacts')] : []),
  ];
};

const listOf = (title: string, items: SafeHtml[]): SafeHtml | null =>
  items.length === 0 ? null : html`<div class="body"><h3>${title}</h3><ul class="hints">${items}</ul></div>`;

const marked = (words: readonly string[]): SafeHtml | null =>
  words.length === 0 ? null : html`${words.map((word) => html`${mono(word)} `)}`;

type Fact = readonly [string, SafeHtml | string | null];

const factsOf = (all: readonly Fact[]): SafeHtml | null => {
  const known = all.filter(([, value]) => value !== null);
  return known.length === 0 ? null : facts(known);
};

/** Shows first what stands out, because the rest may be below the first screen; then the application's record. */
export const textHints = ({ game, hints, standing: { hold, verdict } }: GameView): SafeHtml => {
  const { record, rejections, names, scripts, mixed, reading, contacts } = hints;
  const { passed, rejected, withdrawn } = record;
  const isElsewhere = names.some(({ application_id }) => application_id !== game.application_id);
  const known: Fact[] = [
    ['Developer', html`${hold === undefined ? null : badge('held')} ${describeVerdict(verdict)}`],
    [
      'Application',
      `${upTo(passed)} passed, ${upTo(rejected)} rejected, ${upTo(withdrawn)} withdrawn in ${HISTORY_DAYS} days`,
    ],
    ['Scripts', scripts.join(', ') || null],
  ];
  const odd: Fact[] = [
    ['Name mixes alphabets', marked(mixed)],
    ['Name reads as', reading && mono(reading)],
    ['Name has invisible characters', hints.hasInvisible ? 'yes' : null],
    ['Contacts', marked(contacts)],
  ];
  const isOdd = isElsewhere || odd.some(([, value]) => value !== null);
  return section(
    'What may help to decide',
    html`${listOf(
      isElsewhere ? 'Another application has a similar name' : 'Similar names',
      names.map((name) => similarName(name, name.application_id === game.application_id)),
    )}${factsOf(odd)}${factsOf(known)}
${listOf('Last rejections of this application', rejections.map(recentRejection))}`,
    { tone: isOdd ? 'warn' : undefined, id: 'hints' },
  );
};
