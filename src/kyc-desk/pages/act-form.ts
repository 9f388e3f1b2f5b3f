/** The form of an officer's act on a record: as a request, or alone if the rule of two persons allows it. */
import { recordOf } from '#db/queries/approvals.ts';
import type { ApprovalKind, KYC_APPROVAL_KINDS } from '#src/contract/approvals.ts';
import { developerPath, revealForm } from '#src/kyc-desk/pages/parts.ts';
import { VERDICT_FIELD, verdictFields } from '#src/kyc-desk/pages/verdict.ts';
import type { readNeed } from '#src/operations/second-person.ts';
import type { ProofView } from '#src/site/confirm.ts';
import { hiddenFields, html, input, type SafeHtml } from '#src/site/html.ts';

type ActForm = { label: string; button: string; path: string; hint: string };

const ACT_FORMS: Record<(typeof KYC_APPROVAL_KINDS)[number], ActForm> = {
  verdict: {
    label: 'Give a verdict',
    button: 'Request the verdict',
    path: 'verdict',
    hint: 'On this version of the record. It ends when a field that matters changes, and at its time.',
  },
  reveal: {
    label: 'Reveal',
    button: 'Request to reveal it',
    path: 'reveal',
    hint: 'Shows the record in clear, once, for two minutes.',
  },
  'cp-id': {
    label: 'Accept the new cp_id',
    button: 'Request to accept it',
    path: 'accept-cp-id',
    hint: 'The new cp_id gets its own platform cp_id, and its record is pulled.',
  },
  erase: {
    label: 'Erase',
    button: 'Request to erase it',
    path: 'erase',
    hint: 'Deletes every version of the record, and stops its pulls. Backups keep it until they expire.',
  },
};

const reasonField = input('Reason, for the audit log', {
  ...{ name: 'reason', required: true, maxlength: 1_000 },
  grow: true,
});

/** Returns the fields by which the form of an act names the version that the page showed. */
const versionFields = (kind: ApprovalKind, version: string): Record<string, string> => {
  if (kind === 'cp-id') return { cp_id: version };
  return kind === 'verdict' ? { record_id: recordOf(version), seen: version } : { seen: version };
};

type Act = { kind: ApprovalKind; version: string; need: Awaited<ReturnType<typeof readNeed>> };

/** The form of an act, which an officer requests, or does alone if the rule allows one person. */
export const actForm = ({ kind, version, need }: Act, application_id: string, view: ProofView): SafeHtml => {
  const { label, button: requestLabel, path, hint } = ACT_FORMS[kind as keyof typeof ACT_FORMS];
  const isVerdict = kind === 'verdict';
  const title = html`${isVerdict ? null : html`<h3>${label}</h3>`}<p class="soft">${hint}</p>`;
  // The form of a verdict is sent by Ctrl+Enter too.
  const look = (kind: string): SafeHtml =>
    isVerdict ? html`class="button primary" data-sends` : html`class="button ${kind}"`;
  const url = `${developerPath(application_id)}/${path}`;
  const before = isVerdict ? VERDICT_FIELD : null;
  const after = isVerdict ? verdictFields : null;
  const form = (to: string, fields: Record<string, string>, button: SafeHtml): SafeHtml =>
    html`<form method="post" action="${to}" class="acts">${hiddenFields(fields)}${before}${reasonField}${after}${button}</form>`;
  if (need === 'needed') {
    const fields = { kind, subject: `application:${application_id}`, seen: version };
    return html`<div class="request">${title}
${form('/requests', fields, html`<button ${look('')}>${requestLabel}</button>`)}</div>`;
  }
  const why =
    need === 'off'
      ? 'FOUR_EYES lets one person do this alone.'
      : 'No second person is needed: there are no two KYC officers.';
  const act =
    kind === 'reveal'
      ? revealForm(url, view, reasonField)
      : form(url, versionFields(kind, version), html`<button ${look('danger')}>${label}</button>`);
  return html`<div class="request">${title}<p class="notice warn">${why}</p>${act}</div>`;
};
