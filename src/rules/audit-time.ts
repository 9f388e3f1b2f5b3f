/**
 * Creates the formatter of audit_time on the wire (section 2.2): `yyyy-MM-dd HH:mm:ss` in a time zone, or "" if the game
 * has not been audited.
 * @param timeZone IANA name
 */
export const createAuditTimeFormatter =
  (timeZone: string) =>
  (audit_time: Date | null): string =>
    audit_time === null
      ? ''
      : Temporal.Instant.fromEpochMilliseconds(audit_time.getTime())
          .toZonedDateTimeISO(timeZone)
          .toPlainDateTime()
          .toString({ smallestUnit: 'second' })
          .replace('T', ' ');
