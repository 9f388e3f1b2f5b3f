/** The content that a game was decided on, and what changed since. */
import { changedFields } from '#src/console/pages/game-fields.ts';
import type { GameView } from '#src/console/pages/game-view.ts';
import type { TimelineEntry } from '#src/review/timeline.ts';
import { CONTENT, type ContentColumn } from '#src/rules/mapping.ts';
import { ago, badge, html, type SafeHtml, toneOf } from '#src/site/html.ts';

type DecisionEntry = TimelineEntry & { kind: 'passed' | 'rejected' };

/** The last decision that was not undone. */
const standingDecision = ({ timeline }: GameView): DecisionEntry | undefined => {
  const standing: DecisionEntry[] = [];
  for (const entry of timeline.entries) {
    const { kind } = entry;
    if (kind === 'passed' || kind === 'rejected') standing.push({ ...entry, kind });
    if (kind === 'undone') standing.pop();
  }
  return standing.at(-1);
};

/** Shows the status that a game of the changed lane had before. */
export const formerBadge = (view: GameView): SafeHtml | null => {
  const decision = standingDecision(view);
  return view.timeline.waiting?.lane === 'changed' && decision !== undefined
    ? badge(`was ${decision.kind}`, toneOf(decision.kind))
    : null;
};

/** The order of fields on the cards of the changed lane. */
const ORDER: readonly ContentColumn[] = [
  'game_name',
  'game_icon',
  'game_store_pic',
  'game_desc',
  'game_store_video',
];

const titlesOf = (view: GameView): string =>
  changedFields(view)
    .map(({ field }) => field)
    .toSorted((one, other) => ORDER.indexOf(one) - ORDER.indexOf(other))
    .map((field) => CONTENT[field].title.toLowerCase())
    .join(', ');

/** Tells which revision was decided and what changed since; if other revisions are compared, which ones. */
export const basisNote = (view: GameView): SafeHtml | null => {
  const { from, to, game } = view.diff;
  const decision = to === game.revision ? standingDecision(view) : undefined;
  const replaced = view.pictures.former.size;
  const compared = from === null ? null : html`What is different in revision ${to} from revision ${from}.`;
  const decided =
    decision &&
    html`${decision.kind === 'passed' ? 'Passed' : 'Rejected'} by ${decision.by} ${ago(decision.at)}`;
  let note = compared;
  if (decision?.revision === to && replaced > 0) {
    const what =
      replaced === 1
        ? 'A picture was replaced since, at the same address.'
        : `${replaced} pictures were replaced since, at the same addresses.`;
    note = html`${decided}. ${what} ${compared}`;
  } else if (decision !== undefined && decision.revision === from)
    note = html`${decided} at revision ${from}. Changed since: ${titlesOf(view) || 'nothing'}.`;
  return note && html`<p class="soft compared">${note}</p>`;
};
