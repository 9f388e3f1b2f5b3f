/** How the parts of the page of one game are arranged. */

import { basisNote, formerBadge } from '#src/console/pages/game-basis.ts';
import { decisionForms, steps } from '#src/console/pages/game-decision.ts';
import { gameFacts, packageSection, waitLine } from '#src/console/pages/game-facts.ts';
import { gameContent, gameHeading } from '#src/console/pages/game-fields.ts';
import { hintMarks, similarIcons, textHints } from '#src/console/pages/game-hints.ts';
import { appealForms, appealSection, threadSection } from '#src/console/pages/game-thread.ts';
import type { GameView } from '#src/console/pages/game-view.ts';
import { awaitIcons } from '#src/console/pages/icons.ts';
import { iconPlace, PICTURE_VIEWER } from '#src/console/pages/pictures.ts';
import { nameOr } from '#src/lib/printable.ts';
import {
  applicationLink,
  FILTERS,
  hiddenFields,
  html,
  link,
  type SafeHtml,
  select,
  statusBadges,
} from '#src/site/html.ts';
import type { Page } from '#src/site/layout.ts';
import { timelineCard } from '#src/site/timeline.ts';

const compareForm = ({ game, diff, revisions, filters }: GameView): SafeHtml | null => {
  if (revisions.length < 2) return null;
  const options = revisions.map((each) => [String(each), `revision ${each}`] as const);
  return html`<form method="get" action="/games/${game.game_id}" ${FILTERS}>${hiddenFields(filters)}
${select('from', 'Compare', options, String(diff.from ?? ''))}${select('to', 'with', options, String(diff.to))}
<button class="button">Compare</button></form>`;
};

/** The decision on the game, or on the appeal against its rejection. */
const decideForms = (view: GameView): SafeHtml =>
  view.appeal === undefined || view.diff.to !== view.game.revision
    ? decisionForms(view)
    : appealForms(view.game, view.appeal, view.login);

/** Returns the link to the page that this one belongs to. */
const parentOf = ({ appeal, filters }: GameView): NonNullable<Page['parent']> => {
  if (appeal !== undefined) return ['Appeals', '/review/appeals'];
  return filters.lane === undefined ? ['Games', '/games'] : ['Review', link('/review', filters)];
};

/** The page of one game. */
export const gamePage = (view: GameView): Page => {
  const { game, timeline, mayDecide, pictures, appeal, application_name } = view;
  const parent = parentOf(view);
  const { wide, texts } = gameContent(view);
  const title = nameOr(game.game_name.trim(), game.application_game_id);
  const body = html`${appealSection(appeal, view.login)}${basisNote(view)}${wide}<div class="split"><div>
${texts}</div><div class="stick">${similarIcons(view)}${textHints(view)}${gameFacts(view)}${packageSection(view)}
</div><div>${threadSection(view)}${timelineCard(timeline, compareForm(view))}
</div></div>${PICTURE_VIEWER}
${awaitIcons([game], pictures.pictures, 'large')}`;
  return {
    title,
    heading: gameHeading(view, title),
    focusHeading: true,
    at: parent[0] === 'Games' ? '/games' : '/review',
    parent,
    mark: iconPlace(game, view.pictures.pictures, 'large'),
    lead: html`<span>${statusBadges(game)} ${formerBadge(view)}${hintMarks(view)}</span>
${applicationLink(game.application_id, application_name)} ${waitLine(view)} ${view.viewers}`,
    // The decision is last, at the edge, so it stays where it is when there is no game before or after.
    actions: html`${steps(view)}${mayDecide && game.withdrawn_at === null ? decideForms(view) : null}`,
    body,
  };
};
