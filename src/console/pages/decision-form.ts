/** Parts of the forms that decide on a game, and on many games. */
import type { ReasonRow } from '#db/queries/reasons.ts';
import { PROSE_MAX } from '#src/contract/text.ts';
import { formMaxBytes } from '#src/site/form-size.ts';
import { attribute, html, type SafeHtml } from '#src/site/html.ts';

/** Most bytes of a decision's text and note, as a form sends them. */
export const DECISION_TEXTS_MAX_BYTES = formMaxBytes(2 * PROSE_MAX);

const textField = (name: string, label: string): SafeHtml =>
  html`<label class="field"><span>${label}</span>
<textarea name="${name}" rows="2" maxlength="${PROSE_MAX}" dir="auto"></textarea></label>`;

/** The digits of the keyboard choose the first nine reasons. */
const DIGITS = 9;

/** The reasons that are not retired, in their order, each with its digit; the tenth and those after it have none. */
export const digitsOfReasons = (
  reasons: readonly ReasonRow[],
): (readonly [reason: ReasonRow, digit: number | undefined])[] =>
  reasons
    .filter(({ retired_at }) => retired_at === null)
    .map((reason, index) => [reason, index < DIGITS ? index + 1 : undefined]);

const reasonChoice = ([{ code, label, text }, digit]: ReturnType<
  typeof digitsOfReasons
>[number]): SafeHtml => {
  const key = digit === undefined ? html`<span></span>` : html`<kbd aria-hidden="true">${digit}</kbd>`;
  return html`<label><input type="radio" name="reason" value="${code}" required
 data-text="${text}"${attribute('data-digit', digit?.toString())}>
${key}<span>${label} <span class="soft">${code}</span></span></label>`;
};

/** The fields of a rejection. A button of the same form that passes has `formnovalidate`, because it takes no reason. */
export const rejectionFields = (reasons: readonly ReasonRow[]): SafeHtml => html`<fieldset class="reasons">
<legend>Reason</legend>${digitsOfReasons(reasons).map(reasonChoice)}</fieldset>
${textField('text', 'Text for the developer')}${textField('note', 'Note for operators')}`;

/** The button that sends a rejection. */
export const sendRejection = (label: SafeHtml | string): SafeHtml =>
  html`<button class="button danger solid" name="act" value="reject" data-sends>${label}
<kbd aria-hidden="true">Ctrl ↵</kbd></button>`;
