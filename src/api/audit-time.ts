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
  return (audit_time) => {
    if (audit_time === null) return '';
    const part = Object.fromEntries(format.formatToParts(audit_time).map(({ type, value }) => [type, value]));
    return `${part.year}-${part.month}-${part.day} ${part.hour}:${part.minute}:${part.second}`;
  };
};
