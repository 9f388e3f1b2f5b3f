import { type Case, SkipCase, skipped, type Verdict } from '#src/check/case.ts';
import { answerCases, lastCases } from '#src/check/cases/answers.ts';
import { detailCases } from '#src/check/cases/detail.ts';
import { kycCases } from '#src/check/cases/kyc.ts';
import { listCases } from '#src/check/cases/list.ts';
import { openSession, type Session } from '#src/check/session.ts';
import { showCame, showSent } from '#src/check/show.ts';
import type { WebhookTarget } from '#src/webhooks/client.ts';
import type { EgressPolicy } from '#src/webhooks/egress.ts';

/** Every rule that `app check` looks at, in the order in which one would mend them. */
export const CASES: readonly Case[] = [
  ...answerCases,
  ...listCases,
  ...detailCases,
  ...kycCases,
  ...lastCases,
];

/** One case's outcome, as `--json` shows it. */
export type CaseResult = {
  name: string;
  section: string | null;
  rule: string;
  outcome: Verdict['outcome'];
  /** What is wrong, or why it could not be judged. */
  problem?: string;
  sent?: string;
  came?: string;
};

const judge = async (session: Session, each: Case): Promise<Verdict> => {
  try {
    return await each.judge(session);
  } catch (error) {
    if (error instanceof SkipCase) return skipped(error.message);
    throw error;
  }
};

/**
 * Call an application's three webhooks as the document says, case after case. KYC values are masked in what is
 * reported, the token is never shown.
 * @param onResult is told of each case as it ends
 */
export const checkApplication = async (
  target: WebhookTarget,
  egress: EgressPolicy,
  onResult: (result: CaseResult) => void,
  signal: AbortSignal,
): Promise<CaseResult[]> => {
  const session = openSession(target, egress, signal);
  const results: CaseResult[] = [];
  try {
    for (const each of CASES) {
      const verdict = await judge(session, each);
      const { name, section, rule } = each;
      const result: CaseResult = { name, section, rule, outcome: verdict.outcome };
      if (verdict.outcome !== 'passed') result.problem = verdict.problem;
      if (verdict.outcome === 'failed') {
        result.sent = showSent(verdict.call);
        result.came = showCame(verdict.call, target.accessToken);
      }
      results.push(result);
      onResult(result);
    }
    return results;
  } finally {
    session.close();
  }
};
