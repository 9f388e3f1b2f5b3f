import { HOUR_MS } from '#src/lib/duration.ts';
import { STORAGE } from '#src/rules/budgets.ts';

const MIB = 1024 * 1024;

/** What a run has used so far. */
export type RunUse = { started_at: Date; stored_bytes: number; storable_bytes: number | null };

/** Explains to an operator why a run must end before its listing has; undefined while it is within its budget. */
export const explainOverrun = (run: RunUse, now: Date): string | undefined => {
  if (run.storable_bytes !== null && run.stored_bytes >= run.storable_bytes) {
    const mib = STORAGE.bytesPerDay / MIB;
    return `over_quota: the application's new and changed games of 24 hours reached ${mib} MiB; the next run continues when there is room`;
  }
  if (now.getTime() - run.started_at.getTime() > STORAGE.runMs)
    return `over_time: the run did not end within ${STORAGE.runMs / HOUR_MS} hours; does the list end?`;
  return undefined;
};

/** Bytes that a page of a listing counts for: the ids that it names, and something for each row. */
export const pageBytes = (rows: number, ids: readonly string[]): number =>
  ids.reduce((bytes, id) => bytes + Buffer.byteLength(id), rows * STORAGE.bytesOfRow);
