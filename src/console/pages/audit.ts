/** `/audit`: who did what, to what, when and why. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type AuditRow, listAudit } from '#db/queries/audit.ts';
import { AUDIT_ACTIONS } from '#src/contract/audit.ts';
import { actorCell } from '#src/site/actor-cell.ts';
import { sendPage } from '#src/site/answers.ts';
import {
  clock,
  FILTERS,
  html,
  link,
  mono,
  pager,
  type SafeHtml,
  select,
  tableSection,
} from '#src/site/html.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { optionalText } from '#src/site/query.ts';

const PAGE = 100;
const DAY_MS = 24 * 60 * 60_000;

const query = z.object({
  actor: optionalText,
  action: optionalText,
  subject: optionalText,
  // Years that both JavaScript and Postgres write with four digits.
  day: z.iso.date().regex(/^[12]/).optional().catch(undefined),
  before: z.coerce.number().int().positive().optional().catch(undefined),
});

const PAGES: Record<string, string> = { game: '/games/', application: '/applications/', run: '/runs/' };

const subjectCell = ({ subject }: AuditRow): SafeHtml | string => {
  const [, kind = '', id = ''] = /^([a-z_]+):(.*)$/s.exec(subject) ?? [];
  const page = PAGES[kind];
  return page === undefined || id === ''
    ? mono(subject)
    : html`${kind} <a class="mono" href="${page}${encodeURIComponent(id)}">${id}</a>`;
};

const whyCell = ({ reason, details }: AuditRow): SafeHtml => {
  const text = Object.keys(details).length === 0 ? '' : JSON.stringify(details);
  return html`${reason ?? ''}${text === '' ? null : html`${reason === null ? null : html`<br>`}<small class="mono">${text.slice(0, 400)}</small>`}`;
};

/** Adds `/audit`. */
export const addAudit = (app: FastifyInstance, { sql }: ConsoleOptions): void => {
  app.get('/audit', { config: { right: 'read_audit' } }, async (request, reply) => {
    const { day, ...given } = query.parse(request.query);
    const since = day === undefined ? undefined : new Date(`${day}T00:00:00Z`);
    const until = since === undefined ? undefined : new Date(since.getTime() + DAY_MS);
    const entries = await listAudit(sql, { ...given, since, until, limit: PAGE });
    const { actor, action, subject } = given;
    const filters = { actor, action, subject, day };
    const body = html`<form method="get" ${FILTERS} role="search">
<label class="field grow"><span>Person</span><input type="search" name="actor" value="${actor ?? ''}"></label>
${select('action', 'Action', [['', 'every action'], ...AUDIT_ACTIONS.map((each) => [each, each] as const)], action ?? '')}
<label class="field grow"><span>Subject</span><input name="subject" value="${subject ?? ''}" placeholder="application:acme"></label>
<label class="field"><span>Day (UTC)</span><input type="date" name="day" value="${day ?? ''}"></label>
<button class="button">Filter</button></form>
${tableSection(
  'Entries, latest first',
  entries,
  [
    { head: '#', numeric: true, minWidth: 900, cell: (row) => String(row.entry_id) },
    { head: 'When', cell: (row) => clock(row.at) },
    { head: 'Who', fit: 'words', cell: actorCell },
    { head: 'Action', fit: 'short', cell: (row) => mono(row.action) },
    { head: 'On', cell: subjectCell },
    { head: 'Why, and what', cell: whyCell },
  ],
  { empty: 'No entry matches.', label: 'Audit log', stacked: true },
)}
${pager([
  ['Latest', given.before === undefined ? null : link('/audit', filters)],
  [
    'Earlier',
    entries.length === PAGE ? link('/audit', { ...filters, before: entries.at(-1)?.entry_id }) : null,
  ],
])}`;
    return sendPage(reply, {
      title: 'Audit log',
      at: '/audit',
      body,
      lead: html`Nothing here can be changed or removed: <code>npx catalogue audit verify</code> proves it.`,
    });
  });
};
