/** How the appeal against a rejection stands, beside the name of its game. */
import type { AppealState } from '#db/queries/appeals.ts';
import { badge, html, type SafeHtml } from '#src/site/html.ts';

/** Nothing if the rejection was not appealed. */
export const appealBadge = (appeal: AppealState): SafeHtml | null => {
  if (appeal === 'open') return html` ${badge('appeal waits', 'info')}`;
  return appeal === 'upheld' ? html` ${badge('appeal refused', 'bad')}` : null;
};
