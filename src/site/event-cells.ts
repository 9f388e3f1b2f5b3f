/** Cells of events and of the addresses that they are sent to, for the operator and for the application's developer. */
import type { EventItem } from '#db/queries/event-list.ts';
import type { EventWebhook } from '#db/queries/event-webhooks.ts';
import { WHYS } from '#src/contract/events.ts';
import { describeAttempt, describeError, isOwnKind } from '#src/contract/failure-words.ts';
import { ago, badge, copyableId, due, facts, html, mono, type SafeHtml } from '#src/site/html.ts';

const delivery = (event: EventItem): SafeHtml => {
  const { state, attempts, delivered_at, next_attempt_at } = event;
  if (state === null) return html`${badge('not sent', 'plain')} <br><small>No active address.</small>`;
  if (state === 'delivered')
    return html`${badge('delivered', 'good')} <br><small>${ago(delivered_at)}</small>`;
  // Without an attempt, the result is why the delivery ended.
  const result = describeAttempt(event);
  const made = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}. ${result}`.trimEnd();
  const end = attempts === 0 ? result : `Given up after ${made}`;
  if (state === 'failed') return html`${badge('failed')} <br><small>${end}</small>`;
  if (attempts === 0) return html`${badge('waits', 'plain')} <br><small>No attempt yet.</small>`;
  return html`${badge('retrying', 'warn')} <br><small>${made}<br>Next attempt ${due(next_attempt_at)}</small>`;
};

/**
 * Says what an event means. Its type and the cause alone do not tell how an appeal ended, or why a game was rejected.
 * @returns null if its type says all
 */
const describeEvent = ({ type, data: { why, reason_label } }: EventItem): string | null => {
  if (type === 'game.appeal_upheld') return 'Another reviewer kept the rejection.';
  if (why === 'appeal') return 'Another reviewer took the rejection back.';
  if (why !== 'decided') return WHYS[why];
  return reason_label ? `${reason_label.replace(/\.$/, '')}.` : null;
};

/** The columns of events on pages. */
export const EVENT_COLUMNS = ['type', 'game', 'state', 'event_id', 'ago'];

/** How pages show what an event says, and its delivery. */
export const EVENT_CELLS = {
  type: (event: EventItem): SafeHtml => {
    const said = describeEvent(event);
    return html`${badge(event.type)}${said && html` <br><small dir="auto">${said}</small>`}`;
  },
  state: delivery,
  event_id: ({ event_id }: EventItem): SafeHtml => copyableId(event_id),
};

/**
 * Describes the health of the address. Each time ends a line, so that nothing moves when it grows.
 * @param advice on what to do about it
 */
export const describeAddress = (webhook: EventWebhook, advice = ''): SafeHtml => {
  const { status, off_at, off_reason, failing_since, last_error, next_attempt_at, last_success_at } = webhook;
  const last = last_error === null ? '' : ` Last attempt: ${describeError(last_error)}`;
  if (status === 'off')
    return html`${off_reason ?? ''}${last} Events since then are in <code>event/list</code> only. ${advice}<br>
<span class="soft">Switched off ${ago(off_at)}</span>`;
  if (last_error !== null && isOwnKind(last_error)) return html`Events wait. ${describeError(last_error)}`;
  if (failing_since !== null)
    return html`Deliveries fail. ${describeError(last_error ?? '')} After three days of failures the address is switched
off. ${advice}<br><span class="soft">First failure ${ago(failing_since)}<br>Next attempt ${due(next_attempt_at)}</span>`;
  return last_success_at === null
    ? html`No event has arrived yet.`
    : html`The last event arrived ${ago(last_success_at)}.`;
};

/** The health of an address; nulls without one. */
type Health = { status: string | null } & Pick<EventWebhook, 'failing_since' | 'last_error'>;

/** Do events not arrive for a cause that the owner of the address can mend? */
export const mayMendAddress = ({ status, failing_since, last_error }: Health): boolean =>
  status === 'off' || (failing_since !== null && !isOwnKind(last_error ?? ''));

export const addressBadge = ({ status, failing_since }: EventWebhook): SafeHtml =>
  badge(status === 'active' && failing_since !== null ? 'failing' : status);

/** An address, as one of the facts about it. */
export const addressFact = (webhook: EventWebhook) =>
  ['Address', html`${mono(webhook.url)} ${addressBadge(webhook)}`] as const;

/** Shows where the events of an application are sent. @param none what is shown without an address */
export const addressFacts = (webhook: EventWebhook | undefined, none: SafeHtml): SafeHtml =>
  webhook === undefined
    ? html`<p class="body soft">${none}</p>`
    : facts([addressFact(webhook), ['State', describeAddress(webhook)]]);
