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

/** Thrown to skip a case that needs a response which another case reports as wrong. */
export class SkipCase extends Error {
  override readonly name = 'SkipCase';
}

/** The first part of a case's name. */
export const PREFIX: Record<Operation, string> = {
  query_game_list: 'list',
  query_game_detail: 'detail',
  query_cp_kyc: 'kyc',
};

/** The envelope of a response; undefined if it is not an envelope (section 2.1). */
export const envelopeOf = ({ response }: Call) =>
  'json' in response ? envelopeSchema.safeParse(response.json).data : undefined;

export const isSuccess = (call: Call): boolean => envelopeOf(call)?.ret_code === RET_CODE_SUCCESS;

/** The data of a successful response. @throws SkipCase if there is none: `<operation>.envelope` reports it */
export const dataOf = (call: Call): unknown => {
  const envelope = envelopeOf(call);
  if (envelope?.ret_code === RET_CODE_SUCCESS && envelope.data !== undefined) return envelope.data;
  const prefix = PREFIX[call.operation];
  throw new SkipCase(`${prefix} has no successful response: see ${prefix}.envelope`);
};
