import type { Queryable } from '#db/client.ts';
import { type HourRow, readRunHours } from '#db/queries/run-hours.ts';
import { HOUR_MS } from '#src/lib/duration.ts';

const HOURS = 24;
/** The figures of an hour are final this long after its end, because each run that ended in it is stored by then. */
const FINAL_AFTER_MS = 10 * 60_000;
const REFRESH_MS = 5_000;

/**
 * Creates a function that reads the runs of the last 24 hours, by hour, for all pages of this process. It reads a final
 * hour once and the others again after `refreshMs`; calls that arrive together share a read.
 */
export const createRunHours = (sql: Queryable, refreshMs = REFRESH_MS): (() => Promise<HourRow[]>) => {
  const final = new Map<number, HourRow>();
  let latest: { at: number; rows: Promise<HourRow[]> } | undefined;

  const read = async (): Promise<HourRow[]> => {
    const thisHour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
    const isFinal = (hoursAgo: number): boolean => final.has(thisHour - hoursAgo * HOUR_MS);
    let hoursToRead = HOURS;
    while (hoursToRead > 1 && isFinal(hoursToRead - 1)) hoursToRead -= 1;
    const rows = await readRunHours(sql, hoursToRead);
    for (const row of rows)
      if (row.hour.getTime() + HOUR_MS + FINAL_AFTER_MS < Date.now()) final.set(row.hour.getTime(), row);
    const firstRead = rows[0]?.hour.getTime() ?? thisHour;
    const before = [...final.values()].filter(({ hour }) => hour.getTime() < firstRead);
    const all = [...before, ...rows].slice(-HOURS);
    for (const hour of final.keys()) if (hour < (all[0]?.hour.getTime() ?? 0)) final.delete(hour);
    return all;
  };

  return () => {
    if (latest === undefined || performance.now() - latest.at > refreshMs) {
      const rows = read();
      latest = { at: performance.now(), rows };
      rows.catch(() => {
        latest = undefined;
      });
    }
    return latest.rows;
  };
};
