/** How a verdict on a developer is said, for officers, operators and the developer. */
import type { VerdictState } from '#db/queries/verdicts.ts';

const STATES: Record<VerdictState, string> = {
  standing: 'it stands',
  changed: 'ended because the record changed',
  erased: 'ended because the record was erased',
  expired: 'its time has ended',
  removed: 'ended because the application was removed',
  replaced: 'a later verdict took its place',
};

export const describeVerdictState = (state: VerdictState): string => STATES[state];
