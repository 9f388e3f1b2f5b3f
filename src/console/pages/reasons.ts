/** `/reasons`: why games are rejected. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { listReasons } from '#db/queries/reasons.ts';
import { hasRight } from '#src/contract/roles.ts';
import { addReason, retireReason } from '#src/operations/reasons.ts';
import { operatorOf, redirectAfter, sendPage } from '#src/site/answers.ts';
import { action, ago, badge, type Column, html, mono, section, tableSection } from '#src/site/html.ts';
import { operateFor } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';

const form = z.object({
  act: z.enum(['add', 'retire']),
  code: z.string().trim(),
  label: z.string().default(''),
});

/** Adds `/reasons`. */
export const addReasons = (app: FastifyInstance, options: ConsoleOptions): void => {
  const { sql } = options;
  app.get('/reasons', { config: { right: 'view' } }, async (request, reply) => {
    const reasons = await listReasons(sql);
    const mayManage = hasRight(operatorOf(request).roles, 'manage_reasons');
    const columns: Column<(typeof reasons)[number]>[] = [
      { head: 'Code', cell: (row) => mono(row.code) },
      { head: 'What the developer reads', cell: (row) => row.label },
      {
        head: 'State',
        cell: (row) =>
          row.retired_at === null ? badge('in use', 'good') : html`retired ${ago(row.retired_at)}`,
      },
    ];
    if (mayManage)
      columns.push({
        head: 'Retire',
        cell: (row) =>
          row.retired_at === null
            ? action('/reasons', html`Retire<span class="hidden"> ${row.code}</span>`, {
                fields: { act: 'retire', code: row.code },
                kind: 'quiet',
              })
            : '',
      });
    const body = html`${tableSection('Reasons', reasons, columns, { empty: 'No reason yet.', stacked: true })}
${
  mayManage
    ? section(
        'Add a reason, or change its words',
        html`<form method="post" action="/reasons" class="form"><input type="hidden" name="act" value="add"><label class="field"><span>Code</span><input name="code" required pattern="[a-z][a-z0-9_]*" maxlength="40"></label><label class="field"><span>What the developer reads</span><input name="label" required maxlength="200"></label><button class="button primary">Save</button></form>`,
      )
    : null
}`;
    return sendPage(reply, {
      title: 'Reasons',
      at: '/reasons',
      body,
      lead: 'Why games are rejected. A retired reason stays on the decisions that name it.',
    });
  });

  app.post('/reasons', { config: { right: 'manage_reasons' } }, (request, reply) => {
    const { act, code, label } = form.parse(request.body);
    return redirectAfter(reply, '/reasons', async () => {
      if (act === 'add') await operateFor(request, options, addReason, { code, label });
      else await operateFor(request, options, retireReason, { code });
      return `${code} is ${act === 'add' ? 'in use' : 'retired'}.`;
    });
  });
};
