/** `/audit`: who did what, to what, when and why. */
import type { FastifyInstance } from 'fastify';
import type { AuditRow } from '#db/queries/audit.ts';
import { nameAuditSubjects } from '#db/queries/audit-names.ts';
import { linkTo } from '#src/console/links.ts';
import { isUuid } from '#src/lib/uuid.ts';
import { auditList, formatDetails } from '#src/lists/audit.ts';
import { sendPage } from '#src/site/answers.ts';
import { gameName, html, inWords, NONE, type SafeHtml } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { sourcesOf } from '#src/site/sources.ts';

const PAGE = 100;

const pageOf = (kind: string, id: string): string | null => {
  if (kind === 'game' || kind === 'run') return isUuid(id) ? linkTo({ to: kind, id }) : null;
  return kind === 'application' ? linkTo({ to: kind, id }) : null;
};

/** Shows the subject of an entry: `operator olga`, or a game by its name. */
const subjectCell = (subject: string, name: string | undefined): SafeHtml => {
  const [kind = '', ...rest] = subject.split(':');
  const id = rest.join(':');
  const shown = html`<span dir="auto">${gameName(name ?? id)}</span>`;
  const url = pageOf(kind, id);
  const named = url === null ? shown : html`<a href="${url}">${shown}</a>`;
  return html`<span class="subject"><small>${inWords(kind)}</small> ${named}</span>`;
};

/** Why, and the details, of which a batch is a link. */
const reasonCell = ({ reason, details: { batch_id, ...rest } }: AuditRow): SafeHtml => {
  const words = formatDetails({ details: rest });
  const batch = isUuid(String(batch_id))
    ? html`<span><a href="/batches/${String(batch_id)}">batch</a></span>`
    : null;
  if (batch === null && words === null)
    return reason === null ? NONE : html`<span dir="auto">${reason}</span>`;
  const small = html`<small><span dir="auto">${words}</span>${batch && words && ' · '}${batch}</small>`;
  return reason === null ? small : html`<span dir="auto">${reason}</span> <br>${small}`;
};

/** Adds `/audit`. */
export const addAudit = (app: FastifyInstance, options: ConsoleOptions): void => {
  app.get('/audit', { config: { right: auditList.right } }, async (request, reply) => {
    const view = { path: '/audit', query: request.query, limit: PAGE };
    const { rows, filters, body } = await showList(sourcesOf(options), auditList, view);
    const names = await nameAuditSubjects(
      options.sql,
      rows.map(({ subject }) => subject),
    );
    const cells = {
      subject: ({ subject }: AuditRow) => subjectCell(subject, names.get(subject)),
      reason: reasonCell,
    };
    return sendPage(reply, {
      title: 'Audit log',
      at: '/audit',
      body: html`${filters}${body({ linkTo, cells, label: 'Audit log', stacked: 'lines' })}`,
      lead: html`Nothing here can be changed or removed: <code>npx catalogue audit verify</code> proves it.`,
    });
  });
};
