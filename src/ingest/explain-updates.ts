import type { Queryable } from '#db/client.ts';
import { listChangedContents } from '#db/queries/addresses.ts';
import { findApplication } from '#db/queries/applications.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { ADDRESSES_ALONE, movedParameters, proposeVolatile } from '#src/rules/address-changes.ts';
import { identityRule } from '#src/rules/address-identity.ts';

/** At most this many changed games are compared. */
const SAMPLE = 100;
/** Fewer changed games are no pattern, unless they are all that the application has. */
const FEW = 10;

/**
 * Explains the updates of a run whose changed games all changed in their addresses alone.
 * @returns the note of the run; null if other fields changed too
 */
export const explainUpdates = async (
  tx: Queryable,
  run: Pick<RunRow, 'run_id' | 'application_id'>,
  { updated, listed }: { updated: number; listed: number },
): Promise<string | null> => {
  if (updated < 2 || updated < Math.min(FEW, listed)) return null;
  const application = await findApplication(tx, run.application_id);
  if (application === undefined) return null;
  const { application_id, volatile_parameters } = application;
  const rule = identityRule(volatile_parameters);
  const changed = await listChangedContents(tx, run, SAMPLE);
  const moved = changed.map(({ before, after }) => movedParameters(before, after, rule));
  if (moved.length === 0 || moved.includes(undefined)) return null;
  const names = [...new Set(moved.flatMap((each) => each ?? []))];
  const compared = changed.length < updated ? ` (${changed.length} compared)` : '';
  const what = `all ${updated} changed games${compared} ${ADDRESSES_ALONE}`;
  if (moved.some((each) => each?.length === 0))
    return `${what}, in other parts than parameters. If their pictures are the same, their developer must keep the addresses`;
  const proposal = proposeVolatile(application_id, volatile_parameters, names);
  return proposal === null
    ? what
    : `${what}: they differ in ${names.join(', ')}. If that only signs or times them: ${proposal}`;
};
