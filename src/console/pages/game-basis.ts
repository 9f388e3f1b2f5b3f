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

/** Shows what a game was rejected for. */
const rejectionOf = ({ timeline: { rejection } }: GameView): SafeHtml | null =>
  rejection &&
  html`<strong dir="auto">${rejection.reason_label ?? 'No reason given'}.</strong>
<span dir="auto">${rejection.text}</span>`;

/** Tells what a decision was made on and what changed since. Null if the page says all of it elsewhere. */
const sinceDecision = (view: GameView, { revision }: DecisionEntry): SafeHtml | null => {
  const { from, to } = view.diff;
  const replaced = view.pictures.former.size;
  if (revision === from) return html`Changed since revision ${from}: ${titlesOf(view) || 'nothing'}.`;
  if (revision !== to) return null;
  if (replaced === 1) return html`A picture was replaced since, at the same address.`;
  if (replaced > 1) return html`${replaced} pictures were replaced since, at the same addresses.`;
  return view.appeal === undefined ? html`${rejectionOf(view)}` : null;
};

/**
 * Tells who decided on a game, what for, and what changed since; if other revisions are compared, which ones. The time is
 * last, so that nothing moves when it grows.
 */
export const basisNote = (view: GameView): SafeHtml | null => {
  const { from, to, game } = view.diff;
  const compared = from === null ? null : html`What is different in revision ${to} from revision ${from}.`;
  const decision = to === game.revision ? standingDecision(view) : undefined;
  const since = decision && sinceDecision(view, decision);
  if (decision === undefined || since == null)
    return compared && html`<p class="soft compared">${compared}</p>`;
  const { kind, by, at, revision } = decision;
  return html`<p class="soft compared">${since} ${revision === to ? compared : null}
${kind === 'passed' ? 'Passed' : 'Rejected'} by ${by} ${ago(at)}</p>`;
};
