import { expect, test } from 'vitest';
import type { EventItem } from '#db/queries/event-list.ts';
import type { EventWebhook } from '#db/queries/event-webhooks.ts';
import { outcomeSeries } from '#src/console/charts.ts';
import { DAY_MS } from '#src/lib/duration.ts';
import { describeAddress, EVENT_CELLS } from '#src/site/event-cells.ts';
import { ago, badge, gameName, nameInText } from '#src/site/html.ts';

const event = (delivery: Partial<EventItem>) =>
  ({ state: 'pending', attempts: 0, last_status: null, last_error: null, ...delivery }) as EventItem;
const deliveryOf = (item: EventItem) => String(EVENT_CELLS.state(item));

test('an event without an attempt does not promise one: its address may be failing', () => {
  const shown = deliveryOf(event({}));
  expect(shown).toContain('No attempt yet.');
  expect(shown).not.toContain('About to');
});

test('an event that waits after an attempt names the last result', () => {
  const shown = deliveryOf(event({ attempts: 1, last_status: 503, next_attempt_at: new Date() }));
  expect(shown).toContain('1 attempt. HTTP 503.<br>Next attempt now');
  const refused = event({ attempts: 2, last_error: 'connect_failed', next_attempt_at: new Date() });
  expect(deliveryOf(refused)).toContain(
    '2 attempts. No connection, or it closed before the answer began.<br>Next attempt now',
  );
  const ended = event({ state: 'failed', last_error: 'address_removed' });
  expect(deliveryOf(ended)).toContain('<small>The address was removed.</small>');
});

test('an address whose secret cannot be decrypted is not to blame, also if it failed before', () => {
  const failing = {
    status: 'active',
    failing_since: new Date(),
    last_error: 'timeout',
    next_attempt_at: new Date(),
  } as EventWebhook;
  expect(String(describeAddress(failing))).toContain('First failure');
  const unsigned = String(describeAddress({ ...failing, last_error: 'unknown_key' }));
  expect(unsigned).toContain('Events wait. A fault of the platform: A key that sealed');
  expect(unsigned).not.toContain('First failure');
});

test('a chart has the colour of the badge of the same word, and no two outcomes have the same', () => {
  const series = outcomeSeries(() => []);
  for (const { name, tone } of series) expect(String(badge(name))).toContain(`class="badge ${tone}"`);
  expect(new Set(series.map(({ tone }) => tone)).size).toBe(series.length);
});

test('a name inside a sentence has no character that reorders the words beside it', () => {
  expect(nameInText('Paper\u200f Har\u202ebor\u061c')).toBe('Paper Harbor');
});

test('a name without a visible character has a placeholder, and no other name has', () => {
  for (const name of ['', '  ', '\u200b', '\u3164', '\u202e\u202d'])
    expect([nameInText(name), String(gameName(name))]).toEqual([
      '(no name)',
      '<span class="none">(no name)</span>',
    ]);
  for (const name of ['0', '.', '\u200bX', '(no name)', '名']) expect(String(gameName(name))).toBe(name);
});

test('a time of thirty days or more from now is a date, whose title is the time', () => {
  const inDays = (days: number): Date => new Date(Date.now() + days * DAY_MS);
  expect(String(ago(inDays(-29.5)))).toContain('>29\u00a0d ago<');
  expect(String(ago(inDays(29.5)))).toContain('>in 29\u00a0d<');
  for (const time of [inDays(-30.5), inDays(30.5)]) {
    const date = time.toISOString().slice(0, 10);
    expect(String(ago(time))).toMatch(new RegExp(` title="${date} [\\d:]{8} UTC">${date}</time>$`));
  }
});
