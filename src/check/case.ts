import type { Call, Session } from '#src/check/session.ts';
import { envelopeSchema, RET_CODE_SUCCESS } from '#src/contract/envelope.ts';
import type { Operation } from '#src/contract/words.ts';

/** The result of one case. `call` is the call that shows the problem. */
export type Verdict =
  /** `note`: what its developer should know all the same. */
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
  /** What the document says. */
  rule: string;
  check: (session: Session) => Promise<Verdict>;
};

export const passed: Verdict = { outcome: 'passed' };
export const failed = (problem: string, call: Call): Verdict => ({ outcome: 'failed', problem, call });
export const skipped = (problem: string): Verdict => ({ outcome: 'skipped', problem });
/** Passed if `isRight`, else failed. */
export const judge = (isRight: boolean, problem: string, call: Call): Verdict =>
  isRight ? passed : failed(problem, call);

/** Thrown to skip a case that needs a response which another case reports as wrong. */
export class SkipCase extends Error {
  override readonly name = 'SkipCase';
}

/** Thrown to fail a case because of a response that no other case reports. */
export class FailCase extends Error {
  override readonly name = 'FailCase';
  readonly call: Call;

  constructor(problem: string, call: Call) {
    super(problem);
    this.call = call;
  }
}

/** Each webhook: the first part of its cases' names, and its section. */
export const WEBHOOKS: Record<Operation, { prefix: string; section: string }> = {
  query_game_list: { prefix: 'list', section: '4.4' },
  query_game_detail: { prefix: 'detail', section: '4.5' },
  query_cp_kyc: { prefix: 'kyc', section: '4.3' },
};

/** The envelope of a response; undefined if it is not an envelope (section 2.1). */
export const envelopeOf = ({ response }: Call) =>
  'json' in response ? envelopeSchema.safeParse(response.json).data : undefined;

export const isSuccess = (call: Call): boolean => envelopeOf(call)?.ret_code === RET_CODE_SUCCESS;

/** What to throw because of a wrong response. @param reportedBy the case that reports it; absent: this case fails */
export const caseError = (problem: string, call: Call, reportedBy?: string): FailCase | SkipCase =>
  reportedBy === undefined ? new FailCase(problem, call) : new SkipCase(`${problem}: see ${reportedBy}`);

/** Why a response has no data. Undefined: it is a successful envelope with data, which may be null. */
export const whyNoData = (call: Call): string | undefined => {
  if (!('json' in call.response)) return call.response.message;
  const envelope = envelopeOf(call);
  if (envelope === undefined) return 'ret_code is not an integer, or ret_msg is not a string';
  if (envelope.ret_code !== RET_CODE_SUCCESS) return `ret_code is ${envelope.ret_code}`;
  if (envelope.data !== undefined) return undefined;
  return call.operation === 'query_game_list'
    ? 'data is missing'
    : 'data is missing: send null if there is no data';
};

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
