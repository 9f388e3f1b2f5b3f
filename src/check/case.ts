import type { Call, Session } from '#src/check/session.ts';
import { envelopeSchema, RET_CODE_SUCCESS } from '#src/contract/envelope.ts';
import type { Operation } from '#src/contract/words.ts';

/** What one case found. `call` is the one that shows it. */
export type Verdict =
  | { outcome: 'passed' }
  | { outcome: 'failed'; problem: string; call: Call }
  /** It could not be judged: what it builds on failed, or the application has too few games. */
  | { outcome: 'skipped'; problem: string };

/** One rule of the interface document, and how to see whether an application keeps it. */
export type Case = {
  /** `list.page-size`: stable, for scripts. */
  name: string;
  /** Section of the interface document; null for a bound of the platform's own. */
  section: string | null;
  /** What the document says. */
  rule: string;
  judge: (session: Session) => Promise<Verdict>;
};

export const passed: Verdict = { outcome: 'passed' };
export const failed = (problem: string, call: Call): Verdict => ({ outcome: 'failed', problem, call });
export const skipped = (problem: string): Verdict => ({ outcome: 'skipped', problem });

/** Ends a case that builds on an answer which another case has found wrong. */
export class SkipCase extends Error {
  override readonly name = 'SkipCase';
}

/** The first part of a case's name. */
export const SHORT: Record<Operation, string> = {
  query_game_list: 'list',
  query_game_detail: 'detail',
  query_cp_kyc: 'kyc',
};

/** The envelope of an answer, if it is one (section 2.1). */
export const envelopeOf = ({ answer }: Call) =>
  'json' in answer ? envelopeSchema.safeParse(answer.json).data : undefined;

/** The data of a successful answer. @throws SkipCase when it is none: `<operation>.envelope` says so */
export const dataOf = (call: Call): unknown => {
  const envelope = envelopeOf(call);
  if (envelope?.ret_code === RET_CODE_SUCCESS && envelope.data !== undefined) return envelope.data;
  throw new SkipCase(
    `${SHORT[call.operation]} gave no successful answer: see ${SHORT[call.operation]}.envelope`,
  );
};
