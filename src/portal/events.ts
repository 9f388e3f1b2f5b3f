/** `/portal/events`: events of the application and their deliveries, and a way to send them again. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { EventItem } from '#db/queries/event-list.ts';
import { type EventWebhook, findEventWebhook } from '#db/queries/event-webhooks.ts';
import { CatalogueError } from '#src/errors.ts';
import { countAttempt } from '#src/identity/sign-in.ts';
import { deliveryList } from '#src/lists/events.ts';
import { retryEvents } from '#src/operations/events.ts';
import { operate } from '#src/operations/operate.ts';
import { ForbiddenError } from '#src/operations/operation.ts';
import { linkTo } from '#src/portal/links.ts';
import { EVENT_ADDRESS, EVENTS, eventProblem, problemBanner } from '#src/portal/problems.ts';
import { callerOfHolder, holderOf, SIGNED_IN, sendPortal } from '#src/portal/session.ts';
import { redirectAfter, redirectOnRefusal, redirectWith, tooMany } from '#src/site/answers.ts';
import {
  addressForms,
  changeAddress,
  type RefusedAddress,
  readRefused,
  secretSection,
} from '#src/site/event-address.ts';
import {
  addressFact,
  describeAddress,
  EVENT_CELLS,
  EVENT_COLUMNS,
  mayMendAddress,
} from '#src/site/event-cells.ts';
import { action, facts, html, input, number, type SafeHtml, section } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import { platformOf } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { sourcesOf } from '#src/site/sources.ts';

const PAGE = 50;
/** Most requests of an application within the window of attempts, because each is an entry of the audit log, which is never deleted. */
const AGAIN_MAX = 20;
const NO_EVENT = 'No event yet.';
const EVENTS_COME = html`An event appears here when the status of a game changes, or a reviewer writes to you.`;
const NO_ADDRESS = html`No address is set, so events are not sent: fetch them by <code>event/list</code>, or set an address to
which the platform posts each of them, signed.`;

/** An empty box is an absent one. `event_id`: that event alone. */
const form = z.object({
  event_id: z.guid().optional(),
  since: z
    .string()
    .trim()
    .transform((text) => text || undefined)
    .optional(),
});

/** Folded, because the deliveries are what a developer looks for here. */
const againForm = (): SafeHtml => {
  const since = { name: 'since', placeholder: '24h or 2026-03-31', size: 18 };
  return html`<details name="address"><summary class="button">Send events again…</summary>
<div class="form"><form method="post" action="${EVENTS}" class="filters">
${input('Events since', since)}<button class="button primary">Send again</button></form>
<p class="soft">With a time, every event since then is sent; without one, those that did not arrive. Each event keeps its
<code>webhook-id</code>, so a receiver that has seen it can ignore it. An address that was switched off is switched on
again.</p></div></details>`;
};

/**
 * A delivery that the platform has given up is tried again by hand; after a test, if the address is switched off.
 * @param webhook where it would be sent
 */
const deliveryCell = (event: EventItem, webhook: EventWebhook | undefined): SafeHtml => {
  const { event_id, state, type, data } = event;
  if (state !== 'failed' || webhook?.status !== 'active') return EVENT_CELLS.state(event);
  const label = html`Send again<span class="hidden">: ${type} of ${data.game_name}</span>`;
  return html`${EVENT_CELLS.state(event)}<br>
${action(EVENTS, label, { fields: { event_id }, kind: 'quiet' })}`;
};

/** Where events are sent. An address that fails is described in the banner above. */
const addressSection = (
  webhook: EventWebhook | undefined,
  isFailing: boolean,
  refused: RefusedAddress | undefined,
): SafeHtml => {
  const shown =
    webhook === undefined
      ? html`<p class="body">${NO_ADDRESS}</p>`
      : facts([addressFact(webhook), ...(isFailing ? [] : [['State', describeAddress(webhook)] as const])]);
  const forms = addressForms(EVENT_ADDRESS, webhook, {
    kind: 'primary',
    refused,
    ...(isFailing && { test: null }),
    ...(webhook !== undefined && { more: againForm() }),
  });
  return section('Where events are sent', html`${shown}${forms}`);
};

/** Adds `/portal/events`. */
export const addPortalEvents = (portal: FastifyInstance, options: ConsoleOptions): void => {
  const { sql } = options;

  /** @param refused an address, whose form is open again */
  const sendEvents = async (request: FastifyRequest, reply: FastifyReply, refused?: RefusedAddress) => {
    const { application_id } = holderOf(request);
    const [webhook, { given_up }] = await Promise.all([
      findEventWebhook(sql, application_id),
      portal.countForDeveloper(request),
    ]);
    const events = await showList(sourcesOf(options), deliveryList, {
      path: EVENTS,
      query: request.query,
      limit: PAGE,
      fixed: { application_id },
      ...(webhook === undefined && { tabs: ['state'] }),
    });
    const isFailing = webhook !== undefined && mayMendAddress(webhook);
    // The deliveries stand below.
    const trouble = eventProblem(webhook, given_up).map((problem) =>
      problemBanner(isFailing ? { ...problem, step: null } : problem),
    );
    // Without an address, no event has a delivery.
    const isPulled = webhook === undefined && events.rows.every(({ state }) => state === null);
    const isWhole = Object.keys(events.typed).length === 0 && events.rows.length === 0;
    const shown = events.body({
      linkTo,
      only: EVENT_COLUMNS,
      cells: { ...EVENT_CELLS, state: (event) => deliveryCell(event, webhook) },
      empty: NO_EVENT,
      hint: EVENTS_COME,
      stacked: 'lines',
      ...(isPulled && { omit: ['state'] }),
    });
    return sendPortal(reply, {
      title: 'Events',
      at: EVENTS,
      body: html`${trouble}${addressSection(webhook, isFailing, refused)}
${isWhole ? null : events.filters}${shown}`,
      lead: 'Every decision, change and message about your games, kept for 90\u00a0days.',
    });
  };

  portal.get(EVENTS, SIGNED_IN, (request, reply) => sendEvents(request, reply));

  /** @throws CatalogueError if there were too many requests */
  const countRequest = async (application_id: string): Promise<void> => {
    const waitSeconds = await countAttempt(sql, [`events:${application_id}`], AGAIN_MAX);
    if (waitSeconds > 0) throw new CatalogueError(tooMany('requests', waitSeconds));
  };

  /** @throws CatalogueError if another form than that of an address was refused */
  const change = async (request: FastifyRequest, application_id: string) => {
    try {
      await countRequest(application_id);
      return await changeAddress(options, callerOfHolder(request), application_id, request.body);
    } catch (error) {
      const isRefusal = error instanceof CatalogueError && !(error instanceof ForbiddenError);
      const refused = isRefusal ? readRefused(request.body, error) : undefined;
      if (refused === undefined) throw error;
      return { refused };
    }
  };

  portal.post(EVENT_ADDRESS, SIGNED_IN, async (request, reply) => {
    const { application_id } = holderOf(request);
    return redirectOnRefusal(reply, EVENTS, async () => {
      const changed = await change(request, application_id);
      if ('refused' in changed) return sendEvents(request, reply.code(422), changed.refused);
      if ('text' in changed) return redirectWith(reply, EVENTS, changed.text);
      const page = {
        title: 'Secret',
        at: EVENTS,
        parent: ['Events', EVENTS],
        body: secretSection(changed, EVENTS),
      } as const;
      return sendPortal(reply, page);
    });
  });

  portal.post(EVENTS, SIGNED_IN, async (request, reply) => {
    const { application_id } = holderOf(request);
    const { since, event_id } = form.parse(request.body);
    return redirectAfter(reply, EVENTS, async () => {
      await countRequest(application_id);
      const given = { application_id, since, ...(event_id && { event_ids: [event_id] }) };
      const caller = callerOfHolder(request);
      const { events, switched_on } = await operate(retryEvents, given, caller, platformOf(options));
      return `${switched_on ? 'The address is switched on. ' : ''}Events to be sent now: ${number(events)}.`;
    });
  });
};
