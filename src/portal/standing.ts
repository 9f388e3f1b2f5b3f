/** What stands between an application and its games: its KYC record, the verdict on it, and a hold. */
import type { Database } from '#db/client.ts';
import type { HoldRow } from '#db/queries/holds.ts';
import { findKycState } from '#db/queries/kyc.ts';
import type { PublicVerdict } from '#db/queries/verdicts.ts';
import type { KycState } from '#src/contract/words.ts';
import { banner, CHECKS, HOLD_ENDS, linkButton, writeStep } from '#src/portal/answer.ts';
import type { Problem } from '#src/portal/problems.ts';
import type { Reading } from '#src/portal/reading.ts';
import { unreadTitle } from '#src/portal/unread.ts';
import { readStanding, type Standing } from '#src/review/standing.ts';
import { ago, badge, due, facts, html, number, type SafeHtml, section } from '#src/site/html.ts';
import { describeVerdictState } from '#src/site/verdict.ts';

/** What the platform has of the record, and who acts next. */
const KYC_SENTENCES: Record<KycState, string> = {
  pending: 'The platform has not fetched it yet. You need not do anything.',
  sealed: 'The record of your latest answer is stored.',
  not_provided: 'Your latest answer to query_cp_kyc had no data: answer it with a record.',
  cp_id_changed: 'Your latest answer has another cp_id: the platform decides whether to accept it.',
  failed: 'The latest call of query_cp_kyc failed: Failures says why.',
  erased: 'The platform has erased it, and does not fetch it again by itself.',
};

const describeKyc = (state: KycState, reading: Reading): SafeHtml => {
  const isAwaited = state === 'pending' && unreadTitle(reading) !== null;
  const when = reading.isPaused ? 'the application is resumed' : 'your webhooks answer';
  return html`${badge(state)} ${isAwaited ? `It is fetched when ${when}.` : KYC_SENTENCES[state]}`;
};

const describeVerdict = (verdict: PublicVerdict | undefined): SafeHtml | string => {
  if (verdict === undefined) return 'None yet.';
  const { state, text, decided_at, expires_at, ended_at } = verdict;
  // Of a record that is not accepted, the head of the page has the text.
  const said = text === null || verdict.verdict !== 'verified' ? null : html`<p dir="auto">${text}</p>`;
  if (state === 'standing')
    return html`${badge(verdict.verdict)} since ${ago(decided_at)}, ends ${due(expires_at)}${said}`;
  return html`${badge('none')} "${verdict.verdict}" has ended: ${describeVerdictState(state)},
${ago(ended_at ?? expires_at)}`;
};

const describeObstacle = (obstacle: Standing['obstacle'], pending: number): string | null =>
  obstacle === 'needs_verdict'
    ? `Pending games: ${number(pending)}. They can be passed when the verdict is "verified".`
    : null;

/** The application's record of `query_cp_kyc`, and what was decided on it. */
export type Identity = { kyc: KycState; standing: Standing };

export const readIdentity = async (sql: Database, application_id: string): Promise<Identity> => {
  const [kyc, standing] = await Promise.all([
    findKycState(sql, application_id),
    readStanding(sql, application_id),
  ]);
  return { kyc: kyc?.state ?? 'pending', standing };
};

/** @param pending how many games wait for review */
export const standingSection = ({ kyc, standing }: Identity, pending: number, reading: Reading): SafeHtml => {
  const obstacle = describeObstacle(standing.obstacle, pending);
  return section(
    'Identity check (KYC)',
    facts([
      ['Record', describeKyc(kyc, reading)],
      ['Verdict', describeVerdict(standing.verdict)],
      ...(obstacle === null ? [] : [['Waits for it', obstacle] as const]),
    ]),
    { id: 'identity' },
  );
};

const HELD = 'Your games are held: none of them is live';

const describeHold = ({ reason, held_at }: HoldRow): SafeHtml =>
  html`<blockquote dir="auto">${reason}</blockquote>${HOLD_ENDS}<p class="soft">Held ${ago(held_at)}</p>`;

const holdProblem = ({ hold }: Standing, contact: string | undefined): Problem[] =>
  hold === undefined
    ? []
    : [{ title: HELD, body: describeHold(hold), tone: 'bad', step: writeStep(contact) }];

/** Says above games that an operator holds them. */
export const holdBanner = (hold: HoldRow | undefined, contact: string | undefined): SafeHtml | null => {
  if (hold === undefined) return null;
  const step = writeStep(contact);
  return banner(HELD, describeHold(hold), 'bad', step && linkButton(step));
};

/** A record that is missing while games need it, or that an officer did not accept and its developer has not changed since. */
const recordProblem = ({ kyc, standing: { verdict, obstacle } }: Identity): Problem[] => {
  if (verdict?.state === 'standing' && verdict.verdict !== 'verified')
    return [
      {
        title: `Your identity check: ${verdict.verdict}`,
        body: html`${verdict.text === null ? null : html`<blockquote dir="auto">${verdict.text}</blockquote>`}
<p class="soft">Correct the record that <code>query_cp_kyc</code> answers with: it is checked again when it has changed.</p>`,
        tone: 'bad',
        step: null,
      },
    ];
  return obstacle === 'needs_verdict' && kyc === 'not_provided'
    ? [
        {
          title: 'Your games cannot be passed without a KYC record',
          body: html`<p>${KYC_SENTENCES.not_provided}</p>`,
          tone: 'bad',
          step: CHECKS,
        },
      ]
    : [];
};

/** What keeps all games of an application from being live. @param contact where the operators are reached */
export const standingProblem = (identity: Identity, contact: string | undefined): Problem[] => [
  ...holdProblem(identity.standing, contact),
  ...recordProblem(identity),
];
