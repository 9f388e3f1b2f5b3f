import { envelopeOf, whyNoData } from '#src/check/explain.ts';
import type { Call, Session } from '#src/check/session.ts';
import { SkipCase } from '#src/check/skip-case.ts';
import { RET_CODE_SUCCESS } from '#src/contract/envelope.ts';
import type { Operation } from '#src/contract/words.ts';

/** The result of one case. `call` is the call that shows the problem. */
export type Finding =
  /** `note`: what its developer should know although the case passed. */
  | { outcome: 'passed'; note?: string }
  | { outcome: 'failed'; problem: string; call: Call }
  /** The case does not apply: a call that it needs failed, or the application has too few games. */
  | { outcome: 'skipped'; problem: string };

/** One rule of the interface document and the check for it. */
export type Case = {
  /** Stable, for scripts: `list.page-size`. */
  name: string;
  /** Section of the interface document; null for a limit that the platform sets. */
  section: string | null;
  /** Words of that section, as they are there; absent for a limit. */
  quote?: string;
  /** What is checked. */
  rule: string;
  check: (session: Session) => Promise<Finding>;
};

export const passed: Finding = { outcome: 'passed' };
export const failed = (problem: string, call: Call): Finding => ({ outcome: 'failed', problem, call });
export const skipped = (problem: string): Finding => ({ outcome: 'skipped', problem });
/** Passed if `isRight`, else failed. */
export const judge = (isRight: boolean, problem: string, call: Call): Finding =>
  isRight ? passed : failed(problem, call);

/** Fails a case because of a response that no other case reports. */
export class FailCase extends Error {
  override readonly name = 'FailCase';
  readonly call: Call;

  constructor(problem: string, call: Call) {
    super(problem);
    this.call = call;
  }
}

/** The prefix of the names of a webhook's cases. */
export const PREFIXES: Record<Operation, string> = {
  query_game_list: 'list',
  query_game_detail: 'detail',
  query_cp_kyc: 'kyc',
};

export const isSuccess = (call: Call): boolean => envelopeOf(call)?.ret_code === RET_CODE_SUCCESS;

/** Returns the error to throw for a wrong response. @param reportedBy the case that reports it; absent: this case fails */
export const caseError = (problem: string, call: Call, reportedBy?: string): FailCase | SkipCase =>
  reportedBy === undefined ? new FailCase(problem, call) : new SkipCase(`see ${reportedBy}`);

/**
 * The data of a successful response.
 * @param reportedBy the case that reports this response if it is wrong. Absent: this case
 * @throws SkipCase or FailCase if there is none
 */
export const dataOf = (call: Call, reportedBy?: string): unknown => {
  const problem = whyNoData(call);
  if (problem === undefined) return envelopeOf(call)?.data;
  throw caseError(problem, call, reportedBy);
};
