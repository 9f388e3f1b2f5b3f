import { expect, test } from 'vitest';
import { createAuditTimeFormat } from '#src/api/audit-time.ts';

const DAY_MS = 24 * 60 * 60_000;

test.each([
  'UTC',
  'Asia/Shanghai',
  'Asia/Kolkata',
  'America/New_York',
  // Its summer is half an hour, from 15:30 UTC.
  'Australia/Lord_Howe',
  // 12:45 ahead, and its summer begins at 14:00 UTC.
  'Pacific/Chatham',
])('%s: a year of moments read as its clocks show them', (timeZone) => {
  const formatAuditTime = createAuditTimeFormat(timeZone);
  const shown = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const start = Date.parse('2026-01-01T00:00:00.999Z');
  // Steps that meet every minute of the hour, and both changes of the clocks from near.
  for (let ms = start; ms < start + 366 * DAY_MS; ms += 7 * 60_000 + 1_234) {
    expect(formatAuditTime(new Date(ms))).toBe(shown.format(ms));
  }
});

test('"" while there is none (section 2.2)', () => {
  expect(createAuditTimeFormat('UTC')(null)).toBe('');
});
