/** What stands beside the name of a game: how its appeal fares, and a message that waits. */
import type { AppealState } from '#db/queries/appeals.ts';
import { badge, html, type SafeHtml } from '#src/site/html.ts';

/** Nothing if the rejection was not appealed. */
export const appealBadge = (appeal: AppealState): SafeHtml | null => {
  if (appeal === 'open') return html` ${badge('appeal waits', 'info')}`;
  return appeal === 'upheld' ? html` ${badge('appeal refused', 'bad')}` : null;
};

/** Nothing if no message waits for an answer of the developer. */
export const messageBadge = (isUnanswered: boolean): SafeHtml | null =>
  isUnanswered ? html` ${badge('message', 'warn')}` : null;
