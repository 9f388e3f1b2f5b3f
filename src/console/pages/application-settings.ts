/** The settings of an application that need no key: its name, schedules and pace, and its address for events. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type ApplicationRow, findApplication } from '#db/queries/applications.ts';
import { REVIEW_PRIORITIES } from '#src/contract/words.ts';
import { CatalogueError } from '#src/errors.ts';
import { formatDuration } from '#src/lib/duration.ts';
import { changeApplication } from '#src/operations/applications.ts';
import { redirectAfter, redirectOnRefusal, redirectWith, sendPage } from '#src/site/answers.ts';
import { changeAddress, secretSection } from '#src/site/event-address.ts';
import { facts, hiddenFields, html, input, mono, number, type SafeHtml, select } from '#src/site/html.ts';
import { callerOfOperator, operateFor } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import type { ById } from '#src/site/query.ts';

/** Each setting as its form has it. */
const toFields = (row: ApplicationRow) => ({
  name: row.name,
  every: formatDuration(row.every_ms),
  kyc_every: formatDuration(row.kyc_every_ms),
  detail_max_age: formatDuration(row.detail_max_age_ms),
  concurrency: String(row.concurrency),
  rate: String(row.rate),
  review_priority: row.review_priority,
});
type Field = keyof ReturnType<typeof toFields>;

const LABELS: Record<Field, string> = {
  name: 'Name',
  every: 'Games every',
  kyc_every: 'KYC every',
  detail_max_age: 'Details at most this old',
  concurrency: 'Calls at once',
  rate: 'Calls a second',
  review_priority: 'Review priority',
};
const FIELDS = Object.keys(LABELS) as Field[];
const NUMBERS: readonly Field[] = ['concurrency', 'rate'];

const fieldOf = (name: Field, value: string): SafeHtml =>
  name === 'review_priority'
    ? select(
        name,
        LABELS[name],
        REVIEW_PRIORITIES.map((each) => [each, each]),
        value,
      )
    : input(LABELS[name], {
        name,
        value,
        required: true,
        ...(NUMBERS.includes(name) && { inputmode: 'numeric' }),
      });

/** The field that sends the value that the form showed, so that a change that others made since is not undone. */
const shownName = (name: Field): string => `shown_${name}`;

const changeForm = (application: ApplicationRow): SafeHtml => {
  const values = toFields(application);
  return html`<div class="body acts"><details id="change-settings"><summary class="button">Change…</summary>
<form method="post" action="/applications/${application.application_id}/settings" class="form" autocomplete="off">
${hiddenFields(Object.fromEntries(FIELDS.map((name) => [shownName(name), values[name]])))}
${FIELDS.map((name) => fieldOf(name, values[name]))}
<p class="soft">Webhooks and the access token take the keys:
<code>npx catalogue app update ${application.application_id} …</code></p>
<button class="button primary">Save</button></form></details></div>`;
};

export const settingsSection = (application: ApplicationRow, mayManage: boolean): SafeHtml => {
  const { every, kyc_every, detail_max_age } = toFields(application);
  const rows = facts([
    ['query_game_list', mono(application.query_game_list_webhook)],
    ['query_game_detail', mono(application.query_game_detail_webhook)],
    ['query_cp_kyc', mono(application.query_cp_kyc_webhook)],
    ['Games every', every],
    ['KYC every', kyc_every],
    ['Details', `at most ${detail_max_age} old`],
    ['Pace', `${number(application.rate)} calls a second, ${application.concurrency} at once`],
    ['Review priority', application.review_priority],
    ['Volatile parameters', mono(application.volatile_parameters.join(', ') || 'none')],
  ]);
  // Folded, because few readers need them. An address that ends in #settings opens them, because their id is within.
  return html`<details class="card unchanged"><summary><strong>Settings</strong>
games every ${every}, KYC every ${kyc_every}, ${number(application.rate)} calls a second</summary>
<div id="settings">${rows}${mayManage ? changeForm(application) : null}</div></details>`;
};

const form = z.object(
  Object.fromEntries(
    FIELDS.flatMap((name) => [name, shownName(name)]).map((name) => [name, z.string().trim().optional()]),
  ),
);

/** Adds `POST /applications/:application_id/settings` and `…/events`. */
export const addApplicationSettings = (app: FastifyInstance, options: ConsoleOptions): void => {
  app.post<ById<'application_id'>>(
    '/applications/:application_id/events',
    { config: { right: 'manage_applications' } },
    (request, reply) => {
      const { application_id } = request.params;
      const page = `/applications/${encodeURIComponent(application_id)}`;
      const here = `${page}#events`;
      return redirectOnRefusal(reply, here, async () => {
        const caller = callerOfOperator(request);
        const changed = await changeAddress(options, caller, application_id, request.body);
        if ('text' in changed) return redirectWith(reply, here, changed.text);
        const parent = [application_id, page] as const;
        const body = secretSection(changed, here);
        return sendPage(reply, { title: 'Secret', at: '/applications', parent, body });
      });
    },
  );
  app.post<ById<'application_id'>>(
    '/applications/:application_id/settings',
    { config: { right: 'manage_applications' } },
    (request, reply) => {
      const { application_id } = request.params;
      const here = `/applications/${encodeURIComponent(application_id)}#settings`;
      return redirectAfter(reply, here, async () => {
        const given: Partial<Record<string, string>> = form.parse(request.body);
        const before = await findApplication(options.sql, application_id);
        const now = before && toFields(before);
        const changes = FIELDS.flatMap((name) => {
          const value = given[name];
          const shown = given[shownName(name)]?.trim() ?? now?.[name];
          if (value === undefined || value === shown || value === now?.[name]) return [];
          if (now !== undefined && shown !== now[name])
            throw new CatalogueError(
              `Nothing was changed: "${LABELS[name]}" is ${now[name]} meanwhile. This page shows it.`,
            );
          return [[name, NUMBERS.includes(name) ? Number(value || Number.NaN) : value] as const];
        });
        if (changes.length === 0) return 'Nothing was changed.';
        const changed = { application_id, ...Object.fromEntries(changes) };
        await operateFor(request, options, changeApplication, changed);
        return `Saved: ${changes.map(([name, value]) => `${LABELS[name]} ${value}`).join(', ')}.`;
      });
    },
  );
};
