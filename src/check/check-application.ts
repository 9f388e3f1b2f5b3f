import { type Case, FailCase, type Finding, failed, skipped } from '#src/check/case.ts';
import { addressCases } from '#src/check/cases/addresses.ts';
import { detailCases } from '#src/check/cases/detail.ts';
import { kycCases } from '#src/check/cases/kyc.ts';
import { listCases } from '#src/check/cases/list.ts';
import { lastCases, responseCases } from '#src/check/cases/responses.ts';
import { quote } from '#src/check/quote.ts';
import { type CheckTarget, openSession, type Session, type SessionOptions } from '#src/check/session.ts';
import { describeRequest, describeResponse } from '#src/check/show.ts';
import { SkipCase } from '#src/check/skip-case.ts';
import type { EgressPolicy } from '#src/egress/egress.ts';
import type { CallErrorCode } from '#src/egress/errors.ts';
import { CALL_TIMEOUT_MS } from '#src/rules/budgets.ts';

/** Every case of `app check`, in the order in which to fix them. */
export const CASES: readonly Case[] = [
  ...responseCases,
  ...listCases,
  ...detailCases,
  ...kycCases,
  ...addressCases,
  ...lastCases,
];

/** The result of one case, as `--json` prints it. A failure has the request (`sent`) and the response (`came`). */
export type CaseResult = Omit<Case, 'check'> & {
  outcome: Finding['outcome'];
  /** What is wrong, or why the case was skipped. */
  problem?: string;
  /** What a case that passed has found. */
  note?: string;
  sent?: string;
  came?: string;
};

/** Rules of the platform that no section of the interface document has, by the code of a call that one of them ends. */
const PLATFORM_RULES: Partial<Record<CallErrorCode, string>> = {
  forbidden_address: 'The platform calls public addresses by https; its operator may allow others.',
  proxy_failed: 'The platform reaches applications through its own proxy (WEBHOOK_PROXY).',
  no_socket: 'The machine of the platform opens a connection.',
  timeout: `The platform ends a call after ${CALL_TIMEOUT_MS / 1_000} s.`,
  body_too_large: 'The platform limits the size of an answer.',
  too_deep: 'The platform limits how deep JSON is nested.',
  too_many_values: 'The platform limits the keys and values of an answer.',
};

/** Finds the rule that a failed case cites: its own, or that of the platform which ended the call. */
const ruleOf = ({ check: _, ...own }: Case, finding: Finding): Omit<Case, 'check'> => {
  const response = finding.outcome === 'failed' ? finding.call.response : undefined;
  const rule = response && 'code' in response ? PLATFORM_RULES[response.code] : undefined;
  return rule === undefined ? own : { name: own.name, section: null, rule };
};

/** Characters of a problem or of a request. */
const TEXT_MAX = 1_000;

const runCase = async (session: Session, { check }: Case): Promise<Finding> => {
  try {
    return await check(session);
  } catch (error) {
    if (error instanceof SkipCase) return skipped(error.message);
    if (error instanceof FailCase) return failed(error.message, error.call);
    throw error;
  }
};

/**
 * Runs every case against an application's three webhooks (session.ts makes the calls, cases/ checks them). Results
 * mask KYC values and never contain the token.
 */
export const checkApplication = async (
  target: CheckTarget,
  egress: EgressPolicy,
  { onResult, ...options }: SessionOptions & { onResult?: (result: CaseResult) => void },
): Promise<CaseResult[]> => {
  const session = openSession(target, egress, options);
  const show = (text: string): string => quote(text, target.accessToken, TEXT_MAX);
  const results: CaseResult[] = [];
  try {
    for (const each of CASES) {
      const finding = await runCase(session, each);
      const result: CaseResult = { ...ruleOf(each, finding), outcome: finding.outcome };
      if (finding.outcome !== 'passed') result.problem = show(finding.problem);
      else if (finding.note !== undefined) result.note = show(finding.note);
      if (finding.outcome === 'failed') {
        result.sent = show(describeRequest(finding.call));
        result.came = describeResponse(finding.call, target.accessToken);
      }
      results.push(result);
      onResult?.(result);
    }
    return results;
  } finally {
    session.close();
  }
};
