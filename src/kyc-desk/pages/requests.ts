/** `/requests`: every request. */
import type { FastifyInstance } from 'fastify';
import { type ApprovalRow, listApprovals } from '#db/queries/approvals.ts';
import { DESK_APPROVAL_KINDS } from '#src/contract/approvals.ts';
import type { DeskOptions } from '#src/kyc-desk/options.ts';
import { applicationOf, developerLink, whatOf } from '#src/kyc-desk/pages/parts.ts';
import { refreshOpenRequests } from '#src/operations/approvals.ts';
import { operatorOf, sendPage } from '#src/site/answers.ts';
import { clock, html, type SafeHtml, section, tableSection } from '#src/site/html.ts';
import { requestBadge, requestCard } from '#src/site/requests.ts';

const SHOWN = 200;

const IN_CONSOLE = html`<p class="hint">Do it on the page of the operators in the console.</p>`;

const subjectCell = (row: ApprovalRow): SafeHtml | string =>
  row.kind === 'officer' ? row.subject : developerLink(applicationOf(row));

/** Adds the page. */
export const addRequests = (app: FastifyInstance, { sql }: DeskOptions): void => {
  app.get('/requests', { config: { right: 'kyc' } }, async (request, reply) => {
    // Requests whose subject has changed end before they are listed.
    const open = await refreshOpenRequests(sql, DESK_APPROVAL_KINDS);
    const rows = await listApprovals(sql, { kinds: DESK_APPROVAL_KINDS, limit: SHOWN });
    const { login } = operatorOf(request);
    const officers = open.filter(({ kind }) => kind === 'officer');
    const cards = officers.map((row) =>
      requestCard(row, { login, mayApprove: true, what: `${row.subject}: ${whatOf(row)}`, use: IN_CONSOLE }),
    );
    const table = tableSection(
      'Requests, latest first',
      rows,
      [
        { head: 'Asked', cell: (row) => clock(row.asked_at) },
        { head: 'Developer', fit: 'words', cell: subjectCell },
        { head: 'Request', cell: whatOf },
        { head: 'State', cell: requestBadge },
        { head: 'By', fit: 'words', cell: (row) => row.asked_by },
        { head: 'Second person', fit: 'words', cell: (row) => row.approved_by },
        { head: 'Reason', cell: (row) => row.reason },
      ],
      { empty: 'No requests yet.', label: 'Requests', stacked: true },
    );
    const body = html`${cards.length === 0 ? null : section('Who becomes an officer', html`${cards}`)}${table}`;
    return sendPage(reply, { title: 'Requests', at: '/requests', body });
  });
};
