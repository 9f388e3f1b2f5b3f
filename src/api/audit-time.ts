/** Zones change their offset at whole quarters of an hour: within one it is asked for once. */
const QUARTER_MS = 15 * 60_000;
const OFFSETS_KEPT = 10_000;

/**
 * How audit_time reads on the wire: `yyyy-MM-dd HH:mm:ss` in this time zone, "" while there is none
 * (section 2.2; design, section 5, decision 7).
 */
export const createAuditTimeFormat = (timeZone: string): ((audit_time: Date | null) => string) => {
  const format = new Intl.DateTimeFormat('en-u-ca-iso8601', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  /** What the zone's clocks show at that moment, as if it were UTC, less the moment. */
  const offsetAt = (ms: number): number => {
    const part = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
    const shown = `${part.year}-${part.month}-${part.day}T${part.hour}:${part.minute}:${part.second}Z`;
    return Date.parse(shown) - Math.floor(ms / 1_000) * 1_000;
  };
  const offsets = new Map<number, number>();

  return (audit_time) => {
    if (audit_time === null) return '';
    const ms = audit_time.getTime();
    const quarter = Math.floor(ms / QUARTER_MS);
    let offset = offsets.get(quarter);
    if (offset === undefined) {
      offset = offsetAt(ms);
      if (offsets.size === OFFSETS_KEPT) offsets.clear();
      offsets.set(quarter, offset);
    }
    return new Date(ms + offset).toISOString().slice(0, 19).replace('T', ' ');
  };
};
