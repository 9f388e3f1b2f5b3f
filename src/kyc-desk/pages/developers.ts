/** `/`: what waits for an officer, and every developer. */
import type { FastifyInstance } from 'fastify';
import type { ApprovalRow } from '#db/queries/approvals.ts';
import { countDevelopers, type Developer } from '#db/queries/kyc-list.ts';
import { readVerdictWaitMs, WAITS_OF_DAYS } from '#db/queries/verdicts.ts';
import type { DeskOptions } from '#src/kyc-desk/options.ts';
import {
  applicationIdOf,
  developerLinks,
  developerPath,
  fieldNames,
  linkTo,
  readWaiting,
  removedBadge,
  requestColumns,
} from '#src/kyc-desk/pages/parts.ts';
import { kycRequestList } from '#src/lists/approvals.ts';
import { developerList, verdictList } from '#src/lists/kyc.ts';
import { readFirst } from '#src/lists/read.ts';
import { operatorOf, sendPage } from '#src/site/answers.ts';
import { formatDuration, html, link, number, type SafeHtml, section, stat } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import { listSection, listTable } from '#src/site/list-table.ts';
import { sourcesOf } from '#src/site/sources.ts';

const PAGE = 50;
const WAITING_SHOWN = 50;
const NEW_CP_IDS_SHOWN = 50;
const REQUESTS_MAX = 500;
const SAME_SHOWN = 3;

const nameCell = (row: Developer): SafeHtml =>
  html`<a href="${developerPath(row.application_id)}">${row.name}</a> ${removedBadge(row)}
<br><small class="mono">${row.application_id}</small>`;

const sameTaxId = ({ same_tax_id }: Developer): SafeHtml | null => {
  const more = same_tax_id.length - SAME_SHOWN;
  if (same_tax_id.length === 0) return null;
  return html`<span class="badge warn">same tax_id</span> ${developerLinks(same_tax_id.slice(0, SAME_SHOWN))}
${more > 0 ? `, ${more} more` : ''}`;
};

const CELLS = {
  application_id: nameCell,
  'changed fields': ({ received_at, changed_fields }: Developer) =>
    received_at === null ? null : fieldNames(changed_fields),
  same_tax_id: sameTaxId,
};

const taskStat = (label: string, value: number, url: string, note?: string): SafeHtml =>
  stat(label, number(value), { url, note, tone: value > 0 ? 'warn' : '' });

const waitNote = (median_ms: number | null): string =>
  median_ms === null
    ? `none was given in ${WAITS_OF_DAYS} days`
    : `median wait ${formatDuration(median_ms)} in ${WAITS_OF_DAYS} days`;

/** @param id the anchor that the figures at the top link to */
const requestSection = (
  title: string,
  requests: readonly ApprovalRow[],
  login: string,
  id?: string,
): SafeHtml | null =>
  listSection(title, kycRequestList, requests, {
    ...requestColumns(login),
    id,
  });

const waitingSection = (developers: readonly Developer[]): SafeHtml => {
  const title = 'Records that wait for a verdict';
  const shown = listTable(developerList, developers, {
    linkTo,
    only: ['application_id', 'verdict', 'changed fields', 'record of', 'same_tax_id'],
    cells: CELLS,
    empty: 'Every stored record has a verdict.',
    label: title,
    stacked: true,
  });
  const all = html`<a href="${link('/', { verdict: 'waiting', sort: 'received_at' })}">All</a>`;
  return section(title, shown, { id: 'waiting', aside: all });
};

/** Adds `/`. */
export const addDevelopers = (app: FastifyInstance, options: DeskOptions): void => {
  const { sql } = options;
  const sources = sourcesOf(options);
  app.get('/', { config: { right: developerList.right } }, async (request, reply) => {
    const { login } = operatorOf(request);
    const [counts, median_ms, withNewCpId, waiting, ending, requests, { filters, body }] = await Promise.all([
      countDevelopers(sql),
      readVerdictWaitMs(sql),
      readFirst(developerList, sources, { new_cp_id: true }, NEW_CP_IDS_SHOWN, 'pulled_at'),
      readWaiting(sources, WAITING_SHOWN),
      readFirst(verdictList, sources, { ends_soon: true }, WAITING_SHOWN, 'expires_at'),
      readFirst(kycRequestList, sources, {}, REQUESTS_MAX),
      showList(sources, developerList, { path: '/', query: request.query, limit: PAGE }),
    ]);
    // A cp_id that waits for a second person is in the list of requests only.
    const requested = new Set(requests.filter(({ kind }) => kind === 'cp-id').map(applicationIdOf));
    const undecided = withNewCpId.filter(({ application_id }) => !requested.has(application_id));
    const toApprove = requests.filter((row) => row.requested_by !== login && row.state === 'requested');
    const others = requests.filter((row) => !toApprove.includes(row));
    return sendPage(reply, {
      title: 'Developers',
      at: '/',
      body: html`<div class="stats">
${taskStat('To approve', toApprove.length, '#approve')}
${taskStat('Wait for a verdict', counts.waiting, '#waiting', waitNote(median_ms))}
${taskStat('New cp_ids', undecided.length, '#cp-ids')}
${taskStat('Failed', counts.failed, link('/', { status: 'failed' }))}
</div>
${requestSection('Requests to approve', toApprove, login, 'approve')}
${waitingSection(waiting)}
${listSection('New cp_ids to decide on', developerList, undecided, {
  linkTo,
  id: 'cp-ids',
  only: ['application_id', 'new_cp_id', 'pulled'],
})}
${listSection('Verdicts that end soon', verdictList, ending, {
  linkTo,
  only: ['application_id', 'verdict', 'ends', 'decided_by'],
})}
${requestSection('Other open requests', others, login)}
${filters}${body({ linkTo, cells: CELLS, stacked: true })}`,
    });
  });
};
