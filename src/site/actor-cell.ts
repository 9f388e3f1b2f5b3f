import type { AuditRow } from '#db/queries/audit.ts';
import { describeActorKind } from '#src/contract/audit.ts';
import { html, type SafeHtml } from '#src/site/html.ts';

/** Who acted, in a table of entries of the audit log. */
export const actorCell = (entry: AuditRow): SafeHtml => {
  const kind = describeActorKind(entry);
  return html`${entry.actor}${kind === null ? null : html`<br><small>${kind}</small>`}`;
};
