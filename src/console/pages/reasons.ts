/** `/reasons`: why games are rejected. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { listReasons, type ReasonRow } from '#db/queries/reasons.ts';
import { linkTo } from '#src/console/links.ts';
import { digitsOfReasons } from '#src/console/pages/decision-form.ts';
import { hasRight } from '#src/contract/roles.ts';
import { PROSE_MAX } from '#src/contract/text.ts';
import { StateError } from '#src/errors.ts';
import { reasonList } from '#src/lists/reasons.ts';
import { addReason, retireReason } from '#src/operations/reasons.ts';
import { operatorOf, redirectAfter, sendPage } from '#src/site/answers.ts';
import { formMaxBytes } from '#src/site/form-size.ts';
import { action, hiddenFields, html, input, type SafeHtml, section } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import { operateFor } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { sourcesOf } from '#src/site/sources.ts';
import { openBelow } from '#src/site/table.ts';

const PAGE = 200;
/** The state beside the code, for narrow screens. */
const COLUMNS = ['code', 'state', 'label', 'text'];

const shown = z
  .string()
  .transform((text) => text.replaceAll('\r\n', '\n'))
  .optional();
const form = z.object({
  act: z.enum(['add', 'edit', 'retire']),
  code: z.string().trim(),
  label: z.string().default(''),
  text: z.string().default(''),
  shown_label: shown,
  shown_text: shown,
  shown_state: shown,
});

/** What the form of a reason shows. */
const shownOf = ({ label, text, retired_at }: ReasonRow) => ({
  shown_label: label,
  shown_text: text.replaceAll('\r\n', '\n'),
  shown_state: retired_at === null ? 'in use' : 'retired',
});

/** Refuses a stale form. @throws StateError if another administrator changed the reason since the form was shown */
const requireShown = (given: z.infer<typeof form>, reason: ReasonRow): void => {
  const now = shownOf(reason);
  if ((Object.keys(now) as (keyof typeof now)[]).every((name) => (given[name] ?? now[name]) === now[name]))
    return;
  throw new StateError(
    `${given.code} was changed meanwhile: nothing was saved. This page shows it as it is now.`,
  );
};

const changeCell = ({ code, retired_at }: ReasonRow): SafeHtml => {
  const fields = { act: 'retire', code };
  const label = html`Retire<span class="hidden"> ${code}</span>`;
  const retire = retired_at === null ? action('/reasons', label, { fields, kind: 'quiet' }) : null;
  return html`<div class="actions">${openBelow('Edit', code)}${retire}</div>`;
};

const textCell = ({ text }: ReasonRow): SafeHtml | null =>
  text === '' ? null : html`<span class="cut" dir="auto">${text}</span>`;

const CODE = html`<label class="field"><span>Code</span>
<input name="code" required pattern="[a-z][a-z0-9_]*" maxlength="40"></label>`;

/** Adds a reason, or changes the words of one and brings it back. */
const reasonForm = (row?: ReasonRow): SafeHtml =>
  html`<form method="post" action="/reasons" class="form" autocomplete="off">
${row === undefined ? html`${hiddenFields({ act: 'add' })}${CODE}` : hiddenFields({ act: 'edit', code: row.code, ...shownOf(row) })}
${input('What the developer reads', { name: 'label', value: row?.label, required: true, maxlength: 200 })}
<label class="field"><span>Text that a rejection begins with</span>
<textarea name="text" rows="2" maxlength="${PROSE_MAX}" dir="auto">
${row?.text ?? ''}</textarea></label>
<button class="button primary">${row?.retired_at == null ? 'Save' : 'Save, and use it again'}</button></form>`;

/** Adds `/reasons`. */
export const addReasons = (app: FastifyInstance, options: ConsoleOptions): void => {
  app.get('/reasons', { config: { right: reasonList.right } }, async (request, reply) => {
    const view = { path: '/reasons', query: request.query, limit: PAGE };
    const { filters, body } = await showList(sourcesOf(options), reasonList, view);
    const digits = new Map(
      digitsOfReasons(await listReasons(options.sql)).map(([{ code }, digit]) => [code, digit]),
    );
    const keyCell = ({ code }: ReasonRow): SafeHtml | null => {
      const digit = digits.get(code);
      return digit === undefined ? null : html`<span class="hidden">r, then </span><kbd>${digit}</kbd>`;
    };
    const mayManage = hasRight(operatorOf(request).roles, 'manage_reasons');
    const key = { head: 'Key', cell: keyCell, fit: 'short', minWidth: 640 } as const;
    const more = mayManage ? [key, { head: 'Change', cell: changeCell }] : [key];
    const change = { more, ...(mayManage && { below: reasonForm }) };
    return sendPage(reply, {
      title: 'Reasons',
      at: '/reasons',
      body: html`${filters}${body({ linkTo, only: COLUMNS, cells: { text: textCell }, ...change, stacked: 'lines' })}
${mayManage ? section('Add a reason', reasonForm()) : null}`,
      lead: 'Why games are rejected. A retired reason stays on the decisions that name it.',
    });
  });

  const manager = { config: { right: 'manage_reasons' }, bodyLimit: formMaxBytes(2 * PROSE_MAX) } as const;
  app.post('/reasons', manager, (request, reply) => {
    const given = form.parse(request.body);
    const { act, code, label, text } = given;
    return redirectAfter(reply, '/reasons', async () => {
      const reason = (await listReasons(options.sql)).find((each) => each.code === code);
      if (act === 'edit' && reason !== undefined) requireShown(given, reason);
      if (act === 'add' && reason !== undefined)
        throw new StateError(`There is a reason ${code} already: edit it in the list.`);
      if (act === 'retire') await operateFor(request, options, retireReason, { code });
      else await operateFor(request, options, addReason, { code, label, text });
      return `${code} is ${act === 'retire' ? 'retired' : 'in use'}.`;
    });
  });
};
