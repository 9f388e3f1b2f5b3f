/** The standing verdict on a developer, and the form that gives one, alone or with a second person. */

import { ENDS_SOON_DAYS, type PublicVerdict } from '#db/queries/verdicts.ts';
import { PROSE_MAX } from '#src/contract/text.ts';
import { VERDICTS } from '#src/contract/words.ts';
import { DAY_MS } from '#src/lib/duration.ts';
import { ago, badge, due, facts, html, input, type SafeHtml, select } from '#src/site/html.ts';
import { describeVerdictState } from '#src/site/verdict.ts';

const endOf = ({ state, expires_at, ended_at }: PublicVerdict): SafeHtml => {
  if (state !== 'standing') return html`${describeVerdictState(state)}, ${ago(ended_at ?? expires_at)}`;
  const isSoon = expires_at.getTime() - Date.now() < ENDS_SOON_DAYS * DAY_MS;
  return html`${due(expires_at)} ${isSoon ? badge('ends soon', 'warn') : null}`;
};

/** The last verdict in rows of facts. */
export const verdictFacts = (
  verdict: (PublicVerdict & { decided_by: string; reason: string }) | undefined,
): SafeHtml => {
  if (verdict === undefined) return html`<div class="empty"><p>There was no verdict yet.</p></div>`;
  const isStanding = verdict.state === 'standing';
  return facts([
    ['Verdict', isStanding ? badge(verdict.verdict) : html`${badge('none', 'warn')} was ${verdict.verdict}`],
    ['By', html`${verdict.decided_by}, ${ago(verdict.decided_at)}`],
    ['Ends', endOf(verdict)],
    ['Reason', verdict.reason],
    ['The developer reads', verdict.text === null ? null : html`<span dir="auto">${verdict.text}</span>`],
  ]);
};

/** The verdict itself. None is chosen until the officer chooses one. */
export const VERDICT_FIELD = select(
  'verdict',
  'Verdict',
  [['', 'choose…'], ...VERDICTS.map((each) => [each, each] as const)],
  '',
  true,
);

/** What a verdict says beside the reason. */
export const verdictFields = html`${input('The developer reads', { name: 'text', maxlength: PROSE_MAX, grow: true })}
${input('Ends after', { name: 'expires', value: '365d', size: 6, required: true })}`;
