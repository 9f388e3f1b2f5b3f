import type { Call, Session } from '#src/check/session.ts';
import { envelopeSchema, RET_CODE_SUCCESS } from '#src/contract/envelope.ts';
import type { Operation } from '#src/contract/words.ts';

/** The result of one case. `call` is the call that shows the problem. */
export type Verdict =
  | { outcome: 'passed' }
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

/** The data of a successful response. @throws SkipCase if there is none: `<operation>.envelope` reports it */
export const dataOf = (call: Call): unknown => {
  const envelope = envelopeOf(call);
  if (envelope?.ret_code === RET_CODE_SUCCESS && envelope.data !== undefined) return envelope.data;
  const { prefix } = WEBHOOKS[call.operation];
  throw new SkipCase(`${prefix} has no successful response: see ${prefix}.envelope`);
};
