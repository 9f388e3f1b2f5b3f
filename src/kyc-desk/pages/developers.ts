/** `/`: what waits for an officer, and every developer. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { ApprovalRow } from '#db/queries/approvals.ts';
import {
  countDevelopers,
  DEVELOPER_ORDERS,
  type Developer,
  listDevelopers,
  listRefusedCpIds,
} from '#db/queries/kyc-desk.ts';
import { KYC_APPROVAL_KINDS } from '#src/contract/approvals.ts';
import { KYC_STATES } from '#src/contract/words.ts';
import type { DeskOptions } from '#src/kyc-desk/options.ts';
import {
  applicationOf,
  developerLink,
  developerPath,
  fieldNames,
  removedBadge,
  stateBadge,
  stateText,
  whatOf,
} from '#src/kyc-desk/pages/parts.ts';
import { refreshOpenRequests } from '#src/operations/approvals.ts';
import { operatorOf, sendPage } from '#src/site/answers.ts';
import {
  ago,
  type Column,
  FILTERS,
  html,
  link,
  number,
  pager,
  select,
  tableSection,
} from '#src/site/html.ts';
import { optionalText, optionalWord } from '#src/site/query.ts';
import { requestBadge } from '#src/site/requests.ts';

const PAGE = 50;
const REFUSED_SHOWN = 50;

const query = z.object({
  q: optionalText,
  state: optionalWord(KYC_STATES),
  order: optionalWord(DEVELOPER_ORDERS),
  page: z.coerce.number().int().min(1).max(10_000).catch(1),
});

const sameTaxId = ({ same_tax_id }: Developer) =>
  same_tax_id.length === 0
    ? html`<span class="none">–</span>`
    : html`<span class="badge warn">same tax_id</span> ${same_tax_id.slice(0, 3).map((id, n) => html`${n === 0 ? '' : ', '}<a href="${developerPath(id)}">${id}</a>`)}${same_tax_id.length > 3 ? `, ${same_tax_id.length - 3} more` : ''}`;

const COLUMNS: Column<Developer>[] = [
  {
    head: 'Developer',
    fit: 'words',
    cell: (row) =>
      html`<a href="${developerPath(row.application_id)}">${row.name}</a> ${removedBadge(row)}<br><small class="mono">${row.application_id}</small>`,
  },
  {
    head: 'State',
    cell: (row) =>
      html`${stateBadge(row.state)}${row.reason === null ? null : html`<br><small>${row.reason}</small>`}`,
  },
  { head: 'Changed', cell: (row) => ago(row.received_at) },
  { head: 'Changed fields', cell: (row) => fieldNames(row.changed_fields) },
  { head: 'Look at', cell: sameTaxId },
];

const REQUEST_COLUMNS: Column<ApprovalRow>[] = [
  { head: 'Developer', fit: 'words', cell: (row) => developerLink(applicationOf(row)) },
  { head: 'Request', cell: whatOf },
  { head: 'State', cell: requestBadge },
  { head: 'Asked by', fit: 'words', cell: (row) => html`${row.asked_by}, ${ago(row.asked_at)}` },
  { head: 'Reason', cell: (row) => row.reason },
];

/** Adds `/`. */
export const addDevelopers = (app: FastifyInstance, { sql }: DeskOptions): void => {
  app.get('/', { config: { right: 'kyc' } }, async (request, reply) => {
    const { q, state, order = 'id', page } = query.parse(request.query);
    const { login } = operatorOf(request);
    const [counts, refused, requests, developers] = await Promise.all([
      countDevelopers(sql),
      listRefusedCpIds(sql, REFUSED_SHOWN),
      refreshOpenRequests(sql, KYC_APPROVAL_KINDS),
      listDevelopers(sql, { state, search: q, order, page, limit: PAGE }),
    ]);
    // A cp_id that waits for a second person is in the list of requests only.
    const asked = new Set(requests.filter(({ kind }) => kind === 'cp-id').map(applicationOf));
    const undecided = refused.filter(({ application_id }) => !asked.has(application_id));
    const toApprove = requests.filter((row) => row.asked_by !== login && row.state === 'asked');
    const others = requests.filter((row) => !toApprove.includes(row));
    const filters = { q, state, order: order === 'id' ? undefined : order };
    const stat = (label: string, value: number, url: string, tone = '') =>
      html`<a class="stat ${value > 0 ? tone : ''}" href="${url}"><span>${label}</span><strong>${number(value)}</strong></a>`;
    const body = html`<div class="stats">
${stat('To approve', toApprove.length, '#approve', 'warn')}
${stat('New cp_ids', undecided.length, '#cp-ids', 'warn')}
${stat('Failed', counts.failed, link('/', { state: 'failed' }), 'warn')}
${stat('Sealed', counts.sealed, link('/', { state: 'sealed' }))}
</div>
${tableSection('Requests to approve', toApprove, REQUEST_COLUMNS, {
  empty: 'No request of another officer waits for you.',
  stacked: true,
  id: 'approve',
})}
${others.length === 0 ? null : tableSection('Other open requests', others, REQUEST_COLUMNS, { empty: '', stacked: true })}
${tableSection(
  'New cp_ids to decide on',
  undecided,
  [
    { head: 'Developer', fit: 'words', cell: (row) => developerLink(row.application_id) },
    { head: 'The application now sends', cell: (row) => html`<code>${row.refused_cp_id}</code>` },
    { head: 'Since', cell: (row) => ago(row.asked_at) },
  ],
  { empty: 'No new cp_id waits for a decision.', label: 'New cp_ids', stacked: true, id: 'cp-ids' },
)}
<form method="get" ${FILTERS} role="search">
<label class="field grow"><span>Developer</span><input type="search" name="q" value="${q ?? ''}" placeholder="name or application id"></label>
${select('state', 'State', [['', 'every state'], ...KYC_STATES.map((each) => [each, stateText(each)] as const)], state ?? '')}
${select(
  'order',
  'Order',
  [
    ['id', 'by id'],
    ['changed', 'changed last'],
  ],
  order,
)}
<button class="button">Filter</button></form>
${tableSection('Developers', developers, COLUMNS, { empty: 'No developer matches.', stacked: true })}
${pager([
  ['Before', page === 1 ? null : link('/', { ...filters, page: page - 1 })],
  ['Next', developers.length === PAGE ? link('/', { ...filters, page: page + 1 }) : null],
])}`;
    return sendPage(reply, { title: 'Developers', at: '/', body });
  });
};
