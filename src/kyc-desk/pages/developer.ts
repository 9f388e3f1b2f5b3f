/** `/developers/:application_id`: one developer's record, masked, its history, and what an officer may request. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { findVersion } from '#db/queries/approvals.ts';
import { type AuditRow, listAudit } from '#db/queries/audit.ts';
import { type Developer, findDeveloper } from '#db/queries/kyc-list.ts';
import { findLastVerdict } from '#db/queries/verdicts.ts';
import { KYC_SEALED_FIELDS } from '#src/contract/application.ts';
import { type ApprovalKind, KYC_APPROVAL_KINDS } from '#src/contract/approvals.ts';
import { VERDICTS } from '#src/contract/words.ts';
import { showKyc } from '#src/kyc/read-record.ts';
import type { KycFields } from '#src/kyc/record.ts';
import type { DeskOptions } from '#src/kyc-desk/options.ts';
import { actForm } from '#src/kyc-desk/pages/act-form.ts';
import {
  deskRequest,
  developerLinks,
  developerPath,
  fieldNames,
  linkTo,
  readWaiting,
  recordCpId,
  removedBadge,
} from '#src/kyc-desk/pages/parts.ts';
import { verdictFacts } from '#src/kyc-desk/pages/verdict.ts';
import { describeRequest } from '#src/lists/approvals.ts';
import { auditList } from '#src/lists/audit.ts';
import { kycVersionList } from '#src/lists/kyc.ts';
import { readFirst } from '#src/lists/read.ts';
import { refreshOpenRequests } from '#src/operations/approvals.ts';
import { readNeed } from '#src/operations/second-person.ts';
import { isKeyError } from '#src/sealing/errors.ts';
import { operatorOf, sendError, sendPage } from '#src/site/answers.ts';
import { readProof } from '#src/site/confirm.ts';
import { ago, badge, facts, html, mono, NONE, type SafeHtml, section } from '#src/site/html.ts';
import { listTable } from '#src/site/list-table.ts';
import { sourcesOf } from '#src/site/sources.ts';

const FORMER_SHOWN = 50;
const ENTRIES_SHOWN = 30;

/** The masked record, or why it does not open. */
const readMasked = async (
  { sql, keys }: DeskOptions,
  application_id: string,
): Promise<KycFields | string | null> => {
  try {
    return (await showKyc(sql, keys, application_id)).record;
  } catch (error) {
    if (isKeyError(error)) return error.message;
    throw error;
  }
};

const recordBody = (developer: Developer, record: KycFields | string | null): SafeHtml => {
  if (record === null) return html`<div class="empty"><p>No record is stored.</p></div>`;
  if (typeof record === 'string') return html`<div class="body"><p class="notice bad">${record}</p></div>`;
  const isChanged = (field: string): boolean => developer.changed_fields?.includes(field) === true;
  const rows = [
    ['cp_id', recordCpId(developer)] as const,
    ...KYC_SEALED_FIELDS.map(
      (field) => [field, html`<span class="mono">${record[field] || '(empty)'}</span>`] as const,
    ),
  ];
  // Changed fields come first, because officers look at these.
  return facts(
    rows
      .toSorted(([a], [b]) => Number(isChanged(b)) - Number(isChanged(a)))
      .map(([field, value]) => [field, html`${value} ${isChanged(field) ? CHANGED : null}`]),
  );
};

const CHANGED = badge('changed', 'info');

const verdictPanel = (form: SafeHtml): SafeHtml =>
  html`<div id="decision"><details id="verdict">
<summary class="button primary" data-key="v" data-opens="verdict" aria-keyshortcuts="v">Give a verdict… <kbd>v</kbd></summary>
<div class="panel-over">${form}</div></details></div>`;

/** The next developer who waits for a verdict. */
const nextLink = ({ application_id }: Developer): SafeHtml =>
  html`<a class="button" href="${developerPath(application_id)}" data-key="j" aria-keyshortcuts="j">Next that waits <kbd>j</kbd></a>`;

const requestOfEntry = z.object({
  kind: z.enum(KYC_APPROVAL_KINDS),
  version: z.string(),
  verdict: z.enum(VERDICTS).optional(),
});

/** Why something was done. For a request and an approval, also what was requested. */
const whyCell = ({ action, subject, reason, details }: AuditRow): SafeHtml => {
  const request = action.startsWith('approval.') ? requestOfEntry.safeParse(details).data : undefined;
  const what = request && describeRequest({ ...request, subject, requested: request });
  if (reason === null && what === undefined) return NONE;
  return html`<span dir="auto">${reason}</span>${what && html`<br><small>${what}</small>`}`;
};

/** Adds the page. */
export const addDeveloper = (app: FastifyInstance, options: DeskOptions): void => {
  const { sql, fourEyes } = options;
  app.get<{ Params: { application_id: string } }>(
    '/developers/:application_id',
    { config: { right: 'kyc' } },
    async (request, reply) => {
      const { application_id } = request.params;
      const subject = `application:${application_id}`;
      // Versions are read before the page reads their subjects. If a subject changes in between, the form has its former
      // version, and is refused.
      const acts = await Promise.all(
        KYC_APPROVAL_KINDS.map(async (kind) => ({
          kind,
          version: await findVersion(sql, kind, subject),
          need: await readNeed(sql, fourEyes, kind),
        })),
      );
      const developer = await findDeveloper(sql, application_id);
      if (developer === undefined)
        return sendError(reply, 404, 'No such developer', 'There is no application with this id.');
      const { login } = operatorOf(request);
      const at = developerPath(application_id);
      const [record, former, requests, entries, view, verdict, waiting] = await Promise.all([
        readMasked(options, application_id),
        readFirst(kycVersionList, sourcesOf(options), { application_id }, FORMER_SHOWN),
        refreshOpenRequests(sql, KYC_APPROVAL_KINDS, subject),
        listAudit(sql, { subject, limit: ENTRIES_SHOWN }),
        readProof(request, options, at),
        findLastVerdict(sql, application_id),
        readWaiting(sourcesOf(options), 2),
      ]);
      // Each action is requested once, but every officer needs a reveal of their own.
      const requested = new Set<ApprovalKind>(
        requests
          .filter(({ kind, requested_by }) => kind !== 'reveal' || requested_by === login)
          .map(({ kind }) => kind),
      );
      const forms = acts.flatMap(({ kind, version, need }) =>
        version == null || requested.has(kind)
          ? []
          : [{ kind, form: actForm({ kind, version, need }, application_id, view) }],
      );
      // The form of a new cp_id comes first, because every pull of the record waits for that decision.
      const others = forms
        .filter(({ kind }) => kind !== 'verdict')
        .toSorted((a, b) => Number(b.kind === 'cp-id') - Number(a.kind === 'cp-id'))
        .map(({ form }) => form);
      const verdictForm = forms.find(({ kind }) => kind === 'verdict')?.form ?? null;
      const cards = html`${requests.map((row) => deskRequest(row, view))}`;
      const next = waiting.find((each) => each.application_id !== application_id);
      const versions = listTable(kycVersionList, former, {
        linkTo,
        cells: { 'changed fields': ({ changed_fields }) => fieldNames(changed_fields) },
        label: 'Former versions',
        stacked: true,
      });
      const done = listTable(auditList, entries, {
        linkTo,
        only: ['at', 'actor', 'action', 'reason'],
        cells: { reason: whyCell },
        empty: 'Nothing was done yet.',
        label: 'What was done',
        stacked: true,
      });
      const body = html`<div class="columns">
${section('Record, masked', recordBody(developer, record))}
${section(
  'Application',
  facts([
    ...(developer.reason === null ? [] : [['Why', developer.reason] as const]),
    ['cp_id of the platform', developer.cp_id],
    ['cp_id of the application', developer.application_cp_id],
    ['Refused cp_id', developer.refused_cp_id],
    [developer.state === 'erased' ? 'Erased' : 'Last pulled', ago(developer.pulled_at)],
    ['Record changed', ago(developer.received_at)],
    ['Changed fields', fieldNames(developer.changed_fields)],
    [
      'Same tax_id',
      developer.same_tax_id.length === 0 ? null : html`${developerLinks(developer.same_tax_id)}`,
    ],
  ]),
)}
</div>
${section('Verdict', verdictFacts(verdict))}
${requests.length === 0 ? null : section('Open requests', cards, { id: 'requests' })}
${others.length === 0 ? null : section('What takes a second person', html`${others}`)}
${section('Former versions, latest first', versions)}
${section('What was done, latest first', done)}`;
      return sendPage(reply, {
        title: developer.name,
        at: '/',
        body,
        parent: ['Developers', '/'],
        // Without times, which the part below has.
        lead: html`${badge(developer.state)} ${mono(application_id)} ${removedBadge(developer)}`,
        actions: html`${next && nextLink(next)}${verdictForm && verdictPanel(verdictForm)}`,
      });
    },
  );
};
