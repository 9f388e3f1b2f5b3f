/** What stands beside the name of a game: what was decided before, how its appeal fares, and what waits for its developer. */
import type { AppealState } from '#db/queries/appeals.ts';
import type { GameRow } from '#db/queries/games.ts';
import type { Decision } from '#src/contract/words.ts';
import { badge, html, type SafeHtml, toneOf } from '#src/site/html.ts';

/** A withdrawn game has no other status for its developer. */
export const statusBadge = ({
  withdrawn_at,
  audit_status,
}: Pick<GameRow, 'withdrawn_at' | 'audit_status'>): SafeHtml =>
  withdrawn_at === null ? badge(audit_status) : badge('withdrawn', 'warn');

/** Nothing if the rejection was not appealed. */
export const appealBadge = (appeal: AppealState): SafeHtml | null => {
  if (appeal === 'open') return html` ${badge('appeal waits', 'info')}`;
  return appeal === 'upheld' ? html` ${badge('appeal refused', 'bad')}` : null;
};

/** Nothing if no message waits for an answer of the developer. */
export const messageBadge = (isUnanswered: boolean): SafeHtml | null =>
  isUnanswered ? html` ${badge('message', 'warn')}` : null;

/** Nothing if the list of the application has the game, or is trusted. */
export const unnamedBadge = (isUnnamed: boolean): SafeHtml | null =>
  isUnnamed ? html` ${badge('not in your list', 'warn')}` : null;

/** What was decided on a pending game before it changed; nothing if it is new. */
export const decidedBadge = (decided: Decision | undefined): SafeHtml | null =>
  decided === undefined ? null : html` ${badge(`was ${decided}`, toneOf(decided))}`;

/** Nothing if the latest data of a game is stored. */
export const refusedBadge = (isRefused: boolean): SafeHtml | null =>
  isRefused ? html` ${badge('change not stored', 'warn')}` : null;
