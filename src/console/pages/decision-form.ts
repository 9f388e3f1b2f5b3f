/** What the forms of a decision have in common: on a game, and on many games. */
import type { ReasonRow } from '#db/queries/reasons.ts';
import { PROSE_MAX } from '#src/contract/text.ts';
import { html, type SafeHtml, select } from '#src/site/html.ts';

/** Bytes of a character outside the basic plane, percent-encoded: the most that one takes. */
const CHARACTER_MAX_BYTES = 12;
/** A decision's text and note at their longest, as a form sends them. */
export const DECISION_TEXTS_MAX_BYTES = 2 * PROSE_MAX * CHARACTER_MAX_BYTES;

const textField = (name: string, label: string): SafeHtml =>
  html`<label class="field"><span>${label}</span>
<textarea name="${name}" rows="2" maxlength="${PROSE_MAX}"></textarea></label>`;

/** The fields of a rejection. A button of the same form that passes has `formnovalidate`: it takes no reason. */
export const rejectionFields = (reasons: readonly ReasonRow[]): SafeHtml => html`${select(
  'reason',
  'Reason',
  [
    ['', 'choose a reason'],
    ...reasons
      .filter(({ retired_at }) => retired_at === null)
      .map(({ code, label }) => [code, `${code}: ${label}`] as const),
  ],
  '',
  { required: true },
)}
${textField('text', 'Text for the developer')}${textField('note', 'Note for operators')}`;
