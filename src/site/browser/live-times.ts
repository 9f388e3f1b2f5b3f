/** Refreshes relative times such as "4 min ago" on an open page, and adds the local time to their titles. */
export {};

const EVERY_MS = 15_000;

/** The same units as `formatDuration` in src/site/html.ts. */
const UNITS: [limitS: number, unitS: number, short: string][] = [
  [60, 1, 's'],
  [3_600, 60, 'min'],
  [172_800, 3_600, 'h'],
  [Number.POSITIVE_INFINITY, 86_400, 'd'],
];

const formatDuration = (ms: number): string => {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const [, unit = 1, short = 's'] = UNITS.find(([limit]) => seconds < limit) ?? [];
  return `${Math.floor(seconds / unit)}\u00a0${short}`;
};

const refresh = (): void => {
  // Only relative times have a title.
  for (const each of document.querySelectorAll<HTMLTimeElement>('time[title]')) {
    const time = new Date(each.dateTime);
    if (each.dataset.utc === undefined) {
      each.dataset.utc = each.title;
      each.title = `${time.toLocaleString()} (${each.dataset.utc})`;
    }
    // The server shows a date if the time is 30 days away.
    if (/^\d{4}-/.test(each.textContent)) continue;
    const ms = Date.now() - time.getTime();
    // Only the server says which times are past, because the clock of this computer may be slow.
    const isAhead = each.textContent.startsWith('in ');
    const due = ms >= 0 ? 'now' : `in ${formatDuration(-ms)}`;
    const text = isAhead ? due : `${formatDuration(ms)} ago`;
    // "now" is final. It says that something was due, and does not become "1 s ago".
    if (each.textContent !== 'now' && each.textContent !== text) each.textContent = text;
  }
};

refresh();
setInterval(() => {
  if (!document.hidden) refresh();
}, EVERY_MS);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) refresh();
});
