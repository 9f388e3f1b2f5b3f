import type { Queryable } from '#db/client.ts';
import { type HourRow, readRunHours } from '#db/queries/run-hours.ts';
import { HOUR_MS } from '#src/lib/duration.ts';

const SHOWN = 24;
/** The figures of an hour are kept this long after its end: a run that ends in that hour is stored by then. */
const FINAL_AFTER_MS = 10 * 60_000;
const REFRESH_MS = 5_000;

/**
 * The runs of the last 24 hours by hour, for every view of this process. An hour that has ended is read once; the present
 * one is read again after `refreshMs`, and calls that arrive together share a read.
 */
export const createRunHours = (sql: Queryable, refreshMs = REFRESH_MS): (() => Promise<HourRow[]>) => {
  const ended = new Map<number, HourRow>();
  let latest: { at: number; rows: Promise<HourRow[]> } | undefined;

  const read = async (): Promise<HourRow[]> => {
    const thisHour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
    const known = (back: number): boolean => ended.has(thisHour - back * HOUR_MS);
    let hours = SHOWN;
    while (hours > 1 && known(hours - 1)) hours -= 1;
    const rows = await readRunHours(sql, hours);
    for (const row of rows)
      if (row.hour.getTime() + HOUR_MS + FINAL_AFTER_MS < Date.now()) ended.set(row.hour.getTime(), row);
    const first = rows[0]?.hour.getTime() ?? thisHour;
    const before = [...ended.values()].filter(({ hour }) => hour.getTime() < first);
    const all = [...before, ...rows].slice(-SHOWN);
    for (const hour of ended.keys()) if (hour < (all[0]?.hour.getTime() ?? 0)) ended.delete(hour);
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
