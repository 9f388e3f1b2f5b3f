/** Events and their deliveries, for the operator and for the application's developer. */
import type { EventItem } from '#db/queries/event-list.ts';
import { type EventWebhook, NOT_SIGNED } from '#db/queries/event-webhooks.ts';
import type { EventWhy } from '#src/contract/words.ts';
import { ago, badge, type Column, due, gameName, html, mono, type SafeHtml } from '#src/site/html.ts';

const TYPES = {
  'game.passed': 'good',
  'game.rejected': 'bad',
  'game.pending': 'info',
  'game.withdrawn': 'warn',
};

const WHYS: Record<EventWhy, string> = {
  decided: 'A reviewer decided.',
  decision_undone: 'A decision was taken back.',
  content_changed: 'Its content changed after the decision.',
  pictures_changed: 'Its pictures changed after the decision.',
  not_listed: 'The list no longer names it.',
  returned: 'The list names it again, or its detail was pulled.',
};

const delivery = (event: EventItem): SafeHtml => {
  const { state, attempts, delivered_at, next_attempt_at, last_status, last_error } = event;
  if (state === null)
    return html`${badge('not sent', 'plain')}<br><small>There was no active address.</small>`;
  if (state === 'delivered')
    return html`${badge('delivered', 'good')}<br><small>${ago(delivered_at)}</small>`;
  // Without an attempt: why the delivery ended.
  const result = last_status === null ? (last_error ?? '') : `HTTP ${last_status}`;
  const made = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}${result === '' ? '' : `: ${result}`}`;
  if (state === 'failed') return html`${badge('failed')}<br><small>${made}</small>`;
  const next = attempts === 0 ? 'No attempt yet.' : html`${made}, next attempt ${due(next_attempt_at)}`;
  return html`${badge('waits', 'info')}<br><small>${next}</small>`;
};

/** @param gameUrl the page of the event's game */
export const eventColumns = (gameUrl: (event: EventItem) => string): Column<EventItem>[] => [
  {
    head: 'Event',
    cell: (event) =>
      html`${badge(event.type, TYPES[event.type])}<br><small>${WHYS[event.data.why]} ${ago(event.created_at)}</small>`,
  },
  {
    head: 'Game',
    cell: (event) =>
      html`<a href="${gameUrl(event)}"><span dir="auto">${gameName(event.data.game_name)}</span></a>`,
  },
  { head: 'Delivery', cell: delivery },
  { head: 'Event id', minWidth: 1200, cell: (event) => mono(event.event_id) },
];

/** Describes the health of the address, in one to three sentences. */
export const describeAddress = (webhook: EventWebhook): SafeHtml => {
  const { status, off_at, off_reason, failing_since, last_error, next_attempt_at, last_success_at } = webhook;
  if (status === 'off')
    return html`Switched off ${ago(off_at)}: ${off_reason ?? ''} Events since then are in event/list only.`;
  if (last_error?.startsWith(NOT_SIGNED))
    return html`The platform cannot sign events now (${last_error}): its operators must check ENCRYPTION_KEYS and the log of the workers.`;
  if (failing_since !== null)
    return html`Deliveries fail (${last_error ?? ''}). The first failure was ${ago(failing_since)}; the next event that waits is sent ${due(next_attempt_at)}. After three days of failures the address is switched off.`;
  return last_success_at === null
    ? html`No event has arrived yet.`
    : html`The last event arrived ${ago(last_success_at)}.`;
};

export const addressBadge = ({ status, failing_since }: EventWebhook): SafeHtml =>
  status === 'off'
    ? badge('off', 'bad')
    : failing_since === null
      ? badge('active')
      : badge('failing', 'warn');
