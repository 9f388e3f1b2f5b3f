/** Where an application's events are sent, as a form of the portal and of the console. */
import { z } from 'zod';
import type { EventWebhook } from '#db/queries/event-webhooks.ts';
import { webhookUrl } from '#src/contract/application-settings.ts';
import type { CatalogueError } from '#src/errors.ts';
import { AddressTokenError, removeEventAddress, setEventAddress } from '#src/operations/event-address.ts';
import { rotateEventSecret, sendTestEvent } from '#src/operations/events.ts';
import { operate } from '#src/operations/operate.ts';
import type { Caller } from '#src/operations/operation.ts';
import { isKeyError } from '#src/sealing/errors.ts';
import { readSealingRing } from '#src/sealing/event-box.ts';
import {
  action,
  clock,
  copyable,
  flawOf,
  html,
  input,
  number,
  type SafeHtml,
  section,
} from '#src/site/html.ts';
import { platformOf } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';

const TOKEN_MAX = 1_024;

const form = z.discriminatedUnion('act', [
  z.object({
    act: z.literal('set'),
    url: z.string().trim(),
    /** An empty box counts as absent. */
    api_token: z
      .string()
      .trim()
      .max(TOKEN_MAX)
      .transform((text) => text || undefined),
  }),
  z.object({ act: z.literal('rotate'), former_until: z.string().transform((text) => text || null) }),
  z.object({ act: z.literal('test') }),
  z.object({ act: z.literal('remove') }),
]);

/** No worker has made the key pair of the installation yet, which is for operators to mend. */
const NO_ADDRESS_NOW = 'Addresses cannot be set just now. Try again later, or write to the operators.';

/** The words of the field name a setting of the platform. */
const NO_ADDRESS = 'Give an https address without a user or password.';

/** An address that was typed, why it was refused, and the field that this is about. */
export type RefusedAddress = { url: string; problem: string; field: 'url' | 'api_token' };

/** Reads what its developer is shown again of a form that `changeAddress` refused. @returns undefined if it sets no address */
export const readRefused = (body: unknown, error: CatalogueError): RefusedAddress | undefined => {
  const given = form.parse(body);
  if (given.act !== 'set') return undefined;
  const field = error instanceof AddressTokenError ? 'api_token' : 'url';
  const refused = webhookUrl.safeParse(given.url).success ? error.message : NO_ADDRESS;
  return { url: given.url, problem: isKeyError(error) ? NO_ADDRESS_NOW : refused, field };
};

const setForm = (
  to: string,
  webhook: EventWebhook | undefined,
  refused: RefusedAddress | undefined,
): SafeHtml => {
  const problemOf = (field: RefusedAddress['field']) =>
    refused?.field === field ? refused.problem : undefined;
  const said = (field: RefusedAddress['field']) =>
    problemOf(field) && html`<p class="flaw" id="problem" role="alert">${problemOf(field)}</p>`;
  const url = {
    name: 'url',
    type: 'url',
    required: true,
    value: refused?.url ?? webhook?.url,
    placeholder: 'https://',
    // A form that the browser refuses keeps the token.
    pattern: 'https?://[^/?#@]+([/?#].*)?',
    title: 'An https address without a user or password',
    grow: true,
    ...flawOf(problemOf('url')),
  };
  const token = {
    name: 'api_token',
    type: 'password',
    autocomplete: 'off',
    spellcheck: 'false',
    maxlength: TOKEN_MAX,
    ...flawOf(problemOf('api_token')),
  };
  return html`<form method="post" action="${to}" class="form" autocomplete="off">
<input type="hidden" name="act" value="set">
<div>${input('Address (https)', url)}${said('url')}</div>
<div>${input('API token (only for a new origin)', token)}${said('api_token')}</div>
<p class="soft">An address at the origin of a webhook, or of the present address, needs no token. A new address has a new
secret.</p>
<button class="button primary">Set address</button></form>`;
};

/** The button that sends a test, which switches an address on that was switched off. @param to where it is sent */
export const testButton = (to: string, kind = ''): SafeHtml =>
  action(to, 'Send a test', { fields: { act: 'test' }, kind });

type AddressForms = {
  /** Of the button that sets the first address. */
  kind?: string;
  /** Absent if the page offers it elsewhere. */
  test?: SafeHtml | null;
  more?: SafeHtml | null;
  refused?: RefusedAddress | undefined;
};

/** The forms that set the address, replace its secret and remove it. @param to where they are sent */
export const addressForms = (
  to: string,
  webhook: EventWebhook | undefined,
  { kind = '', test = testButton(to), more = null, refused }: AddressForms = {},
): SafeHtml => {
  const label = webhook === undefined ? { text: 'Set an address…', kind } : { text: 'Change…', kind: '' };
  const change = html`<details name="address"${refused && html` open`}>
<summary class="button ${label.kind}">${label.text}</summary>${setForm(to, webhook, refused)}</details>`;
  if (webhook === undefined) return html`<div class="body acts">${change}</div>`;
  const former_until = webhook.former_until?.toISOString() ?? '';
  const former =
    webhook.former_until === null || webhook.former_until.getTime() <= Date.now()
      ? null
      : html`<p class="soft">The former secret signs until ${clock(webhook.former_until)}: another new one ends it now.</p>`;
  const secret = html`<details name="address"><summary class="button">New secret…</summary><div class="form">
<p>A new secret signs from now on. The present one signs too for 24 hours.</p>
${action(to, 'Replace the secret', { fields: { act: 'rotate', former_until } })}</div></details>`;
  return html`<div class="body acts">${test}${change}${secret}
${more}<details name="address"><summary class="button quiet danger">Remove…</summary><div class="form">
<p>No event is sent any more: <code>event/list</code> has them. The secret ends.</p>
${action(to, 'Remove the address', { fields: { act: 'remove' }, kind: 'danger' })}</div></details>${former}</div>`;
};

/**
 * The result of a form: a new secret, to be shown once, with the number of events that no further attempt sends; or a
 * sentence.
 */
type Changed = { secret: string; undelivered: number } | { text: string };

/** Runs the operation of a form. */
export const changeAddress = async (
  options: ConsoleOptions,
  caller: Caller,
  application_id: string,
  body: unknown,
): Promise<Changed> => {
  const given = form.parse(body);
  const platform = platformOf(options);
  if (given.act === 'remove') {
    await operate(removeEventAddress, { application_id }, caller, platform);
    return { text: 'The address is removed: no event is sent.' };
  }
  if (given.act === 'test') {
    const { switched_on, undelivered } = await operate(sendTestEvent, { application_id }, caller, platform);
    const on = switched_on ? ' The address is switched on.' : '';
    const again = sendAgain(undelivered, 'this page');
    return { text: `A test is sent now: its delivery is the first one below.${on}${again}` };
  }
  const ring = await readSealingRing(options.sql);
  const sealing = { ...platform, keys: async () => ring };
  if (given.act === 'rotate') {
    const { secret } = await operate(rotateEventSecret, { ...given, application_id }, caller, sealing);
    return { secret, undelivered: 0 };
  }
  const { secret = '', undelivered = 0 } = await operate(
    setEventAddress,
    { ...given, application_id },
    caller,
    sealing,
  );
  return { secret, undelivered };
};

/** Says where the developer can send events again that no further attempt sends. Empty if there are none. */
const sendAgain = (undelivered: number, where: string): string =>
  undelivered > 0
    ? ` Events that were not delivered: ${number(undelivered)}. Send them again on ${where}.`
    : '';

/** Shows a secret, once. @param back the page of the address */
export const secretSection = (
  { secret, undelivered }: { secret: string; undelivered: number },
  back: string,
): SafeHtml =>
  section(
    'The secret that signs the events',
    html`<div class="body once" data-instead="${back}"><p>${copyable(secret)}</p>
<p>Copy it now: it is not shown again. Each event is signed with it, as
<a href="https://www.standardwebhooks.com" rel="noreferrer">Standard Webhooks</a> say. After a replacement, the former secret
signs too for 24 hours.${sendAgain(undelivered, 'the page before')}</p>
<p><a class="button primary" href="${back}">I have copied it</a></p></div>`,
  );
