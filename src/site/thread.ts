/** What people wrote about one game, as pages of operators and of its developer show it. */
import type { ThreadEntry } from '#db/queries/threads.ts';
import { PROSE_MAX } from '#src/contract/text.ts';
import { ago, badge, html, nothing, type SafeHtml } from '#src/site/html.ts';

const KINDS: Record<ThreadEntry['kind'], readonly [word: string, tone: string]> = {
  note: ['note', 'plain'],
  message: ['message', 'info'],
  answer: ['answer', 'info'],
  appeal: ['appeal', 'info'],
  upheld: ['appeal refused', 'bad'],
  overturned: ['rejection overturned', 'good'],
};

/** Before the first message of a reviewer, the developer answers nothing. */
const kindOf = ({ kind }: ThreadEntry, before: readonly ThreadEntry[]): ThreadEntry['kind'] =>
  kind === 'answer' && !before.some((each) => each.kind === 'message') ? 'message' : kind;

/** Shows a thread. @param nameOf the name of an entry's writer, as this reader may see it */
export const threadEntries = (
  entries: readonly ThreadEntry[],
  nameOf: (entry: ThreadEntry) => string,
): SafeHtml =>
  entries.length === 0
    ? nothing('No message yet.')
    : html`<ol class="timeline thread">${entries.map((entry, n) => {
        const [word, tone] = KINDS[kindOf(entry, entries.slice(0, n))];
        const writer = html`<strong dir="auto">${nameOf(entry)}</strong>`;
        return html`<li class="${tone}"><span>${writer} ${badge(word, tone)}</span>${ago(entry.written_at)}
<blockquote dir="auto">${entry.text}</blockquote></li>`;
      })}</ol>`;

/** A box for a text that others read. @param id where links lead that focus it */
export const textArea = (name: string, label: string, id?: string): SafeHtml =>
  html`<label class="field"><span>${label}</span>
<textarea name="${name}"${id && html` id="${id}"`} rows="3" maxlength="${PROSE_MAX}" required dir="auto"></textarea></label>`;
