import type { Timeline, TimelineEntry } from '#src/review/timeline.ts';
import { ago, html, type SafeHtml, section } from '#src/site/html.ts';

const ENTRY_TONES: Partial<Record<TimelineEntry['kind'], string>> = {
  passed: 'good',
  waiting: 'info',
  rejected: 'bad',
  failed: 'bad',
  appealed: 'info',
  withdrawn: 'warn',
  unlisted: 'warn',
  picture: 'warn',
  event_failed: 'warn',
};

/** The first sentence leads; the rest is as long as a reviewer's text may be. */
const answerLine = (text: string): SafeHtml => {
  const [, lead = text, rest = ''] = /^(.*?[.:;])(\s.*)$/s.exec(text) ?? [];
  return html`<p class="answer"><strong>${lead}</strong>${rest}</p>`;
};

/**
 * Shows what happened to a game, latest first, below why it is live or not, unless the page says so above.
 * @param aside beside the title
 */
export const timelineCard = (
  { answer, entries }: Pick<Timeline, 'answer' | 'entries'>,
  aside?: SafeHtml | null,
  isAnswered = false,
): SafeHtml =>
  section(
    'Timeline',
    html`${isAnswered ? null : answerLine(answer.text)}<ol class="timeline">${entries
      .toReversed()
      .map(
        (entry) =>
          html`<li class="${ENTRY_TONES[entry.kind] ?? ''}"><span dir="auto">${entry.text}</span>${ago(entry.at)}${
            entry.by || entry.note
              ? html`<p>${entry.by ? `by ${entry.by}` : ''}${entry.by && entry.note ? ': ' : ''}${entry.note ?? ''}</p>`
              : null
          }</li>`,
      )}</ol>`,
    { id: 'timeline', aside: aside ?? undefined },
  );
