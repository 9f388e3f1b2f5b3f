/** `/reveals`: who revealed what, when and why, at the desk and on the command line. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type AuditRow, listAudit } from '#db/queries/audit.ts';
import type { DeskOptions } from '#src/kyc-desk/options.ts';
import { developerLink } from '#src/kyc-desk/pages/parts.ts';
import { actorCell } from '#src/site/actor-cell.ts';
import { sendPage } from '#src/site/answers.ts';
import { clock, FILTERS, html, link, pager, tableSection } from '#src/site/html.ts';
import { optionalText } from '#src/site/query.ts';

const PAGE = 100;
const query = z.object({
  who: optionalText,
  before: z.coerce.number().int().positive().optional().catch(undefined),
});

const applicationOf = ({ subject }: AuditRow): string => subject.slice('application:'.length);

/** Adds the page. */
export const addReveals = (app: FastifyInstance, { sql }: DeskOptions): void => {
  app.get('/reveals', { config: { right: 'kyc' } }, async (request, reply) => {
    const { who, before } = query.parse(request.query);
    const entries = await listAudit(sql, { action: 'kyc.reveal', actor: who, before, limit: PAGE });
    const body = html`<form method="get" ${FILTERS} role="search">
<label class="field grow"><span>Person</span><input type="search" name="who" value="${who ?? ''}" placeholder="login"></label>
<button class="button">Filter</button></form>
${tableSection(
  'Reveals, latest first',
  entries,
  [
    { head: 'When', cell: (row) => clock(row.at) },
    { head: 'Who', cell: actorCell },
    { head: 'Developer', cell: (row) => developerLink(applicationOf(row)) },
    { head: 'Second person', cell: (row) => String(row.details.second_person ?? '–') },
    { head: 'Reason', cell: (row) => row.reason },
  ],
  { empty: 'No record was revealed.', label: 'Reveals', stacked: true },
)}
${pager([
  ['Latest', before === undefined ? null : link('/reveals', { who })],
  ['Earlier', entries.length === PAGE ? link('/reveals', { who, before: entries.at(-1)?.entry_id }) : null],
])}`;
    return sendPage(reply, {
      title: 'Reveals',
      at: '/reveals',
      body,
      lead: 'Who saw a record in clear. An entry is written before the record is opened.',
    });
  });
};
