import { expect, test } from 'vitest';
import { createAuditTimeFormatter } from '#src/rules/audit-time.ts';

const DAY_MS = 24 * 60 * 60_000;

test.each([
  'UTC',
  'Asia/Shanghai',
  'Asia/Kolkata',
  'America/New_York',
  // Daylight saving of half an hour, from 15:30 UTC.
  'Australia/Lord_Howe',
  // UTC+12:45, with daylight saving from 14:00 UTC.
  'Pacific/Chatham',
])('%s: the times of a year have the local date and time', (timeZone) => {
  const formatAuditTime = createAuditTimeFormatter(timeZone);
  const shown = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const start = Date.parse('2026-01-01T00:00:00.999Z');
  const wrong: string[] = [];
  // Steps that reach every minute of the hour, and times close to both changes of daylight saving.
  for (let ms = start; ms < start + 366 * DAY_MS; ms += 7 * 60_000 + 1_234) {
    const text = formatAuditTime(new Date(ms));
    if (text !== shown.format(ms)) wrong.push(text);
  }
  expect(wrong).toEqual([]);
});

test('"" without an audit time (section 2.2)', () => {
  expect(createAuditTimeFormatter('UTC')(null)).toBe('');
});
