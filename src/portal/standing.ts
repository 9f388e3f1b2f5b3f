/** What stands between an application and its games: its KYC record, the verdict on it, and a hold. */
import type { Database } from '#db/client.ts';
import { findKycState } from '#db/queries/kyc.ts';
import type { PublicVerdict } from '#db/queries/verdicts.ts';
import type { KycState } from '#src/contract/words.ts';
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

const describeKyc = (state: KycState): SafeHtml => html`${badge(state)} ${KYC_SENTENCES[state]}`;

const describeVerdict = (verdict: PublicVerdict | undefined): SafeHtml | string => {
  if (verdict === undefined) return 'None yet.';
  const { state, text, decided_at, expires_at, ended_at } = verdict;
  const said = text === null ? null : html`<p dir="auto">${text}</p>`;
  if (state === 'standing')
    return html`${badge(verdict.verdict)} since ${ago(decided_at)}, ends ${due(expires_at)}${said}`;
  return html`${badge('none')} "${verdict.verdict}" has ended: ${describeVerdictState(state)},
${ago(ended_at ?? expires_at)}`;
};

const describeObstacle = ({ hold, obstacle }: Standing, pending: number): SafeHtml | string | null => {
  if (hold !== undefined)
    return html`Your games are held since ${ago(hold.held_at)}: none of them is live. <span dir="auto">${hold.reason}</span>`;
  if (obstacle === 'needs_verdict')
    return `Pending games: ${number(pending)}. They can be passed when the verdict is "verified".`;
  return null;
};

/** @param pending how many games wait for review */
export const standingSection = async (
  sql: Database,
  application_id: string,
  pending: number,
): Promise<SafeHtml> => {
  const [kyc, standing] = await Promise.all([
    findKycState(sql, application_id),
    readStanding(sql, application_id),
  ]);
  const obstacle = describeObstacle(standing, pending);
  return section(
    'Identity check (KYC)',
    facts([
      ['Record', describeKyc(kyc?.state ?? 'pending')],
      ['Verdict', describeVerdict(standing.verdict)],
      ...(obstacle === null ? [] : [['Waits for it', obstacle] as const]),
    ]),
  );
};
