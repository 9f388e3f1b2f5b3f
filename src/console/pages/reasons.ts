/** `/reasons`: why games are rejected. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { ReasonRow } from '#db/queries/reasons.ts';
import { linkTo } from '#src/console/links.ts';
import { hasRight } from '#src/contract/roles.ts';
import { PROSE_MAX } from '#src/contract/text.ts';
import { reasonList } from '#src/lists/reasons.ts';
import { addReason, retireReason } from '#src/operations/reasons.ts';
import { operatorOf, redirectAfter, sendPage } from '#src/site/answers.ts';
import { action, hiddenFields, html, type SafeHtml, section } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import { operateFor } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { sourcesOf } from '#src/site/sources.ts';

const PAGE = 200;

const form = z.object({
  act: z.enum(['add', 'retire']),
  code: z.string().trim(),
  label: z.string().default(''),
  text: z.string().default(''),
});

const retireCell = ({ code, retired_at }: ReasonRow): SafeHtml | string => {
  if (retired_at !== null) return '';
  const fields = { act: 'retire', code };
  return action('/reasons', html`Retire<span class="hidden"> ${code}</span>`, { fields, kind: 'quiet' });
};

const ADD = section(
  'Add a reason, or change its words',
  html`<form method="post" action="/reasons" class="form">${hiddenFields({ act: 'add' })}
<label class="field"><span>Code</span>
<input name="code" required pattern="[a-z][a-z0-9_]*" maxlength="40"></label>
<label class="field"><span>What the developer reads</span><input name="label" required maxlength="200"></label>
<label class="field"><span>Text that a rejection begins with</span>
<textarea name="text" rows="2" maxlength="${PROSE_MAX}" dir="auto"></textarea></label>
<button class="button primary">Save</button></form>`,
);

/** Adds `/reasons`. */
export const addReasons = (app: FastifyInstance, options: ConsoleOptions): void => {
  app.get('/reasons', { config: { right: reasonList.right } }, async (request, reply) => {
    const view = { path: '/reasons', query: request.query, limit: PAGE };
    const { filters, body } = await showList(sourcesOf(options), reasonList, view);
    const mayManage = hasRight(operatorOf(request).roles, 'manage_reasons');
    const more = mayManage ? [{ head: 'Retire', cell: retireCell }] : [];
    return sendPage(reply, {
      title: 'Reasons',
      at: '/reasons',
      body: html`${filters}${body({ linkTo, more, stacked: true })}${mayManage ? ADD : null}`,
      lead: 'Why games are rejected. A retired reason stays on the decisions that name it.',
    });
  });

  app.post('/reasons', { config: { right: 'manage_reasons' } }, (request, reply) => {
    const { act, code, label, text } = form.parse(request.body);
    return redirectAfter(reply, '/reasons', async () => {
      if (act === 'add') await operateFor(request, options, addReason, { code, label, text });
      else await operateFor(request, options, retireReason, { code });
      return `${code} is ${act === 'add' ? 'in use' : 'retired'}.`;
    });
  });
};
