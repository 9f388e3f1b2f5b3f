/** Requests that wait for a second person, as the console and the KYC desk show them. */
import type { ApprovalRow } from '#db/queries/approvals.ts';
import { action, ago, badge, clock, facts, html, type SafeHtml } from '#src/site/html.ts';

/** What is requested, by whom and why. */
const describe = (row: ApprovalRow, what: string): SafeHtml =>
  facts([
    ['What', what],
    ['Asked by', html`${row.asked_by}, ${ago(row.asked_at)}`],
    ['Reason', row.reason],
    ['Approved by', row.approved_by === null ? null : html`${row.approved_by}, ${ago(row.approved_at)}`],
    ['Ends', clock(row.expires_at)],
  ]);

/**
 * One open request with what this operator may do about it.
 * @param url of the request; its actions are below it
 * @param use what the asker does once it is approved
 */
export const requestCard = (
  row: ApprovalRow,
  { login, mayApprove, what, url, use }: RequestView,
): SafeHtml => {
  const isOwn = row.asked_by === login;
  const hint = isOwn
    ? row.state === 'approved'
      ? null
      : html`<p class="hint">Another person must approve this within an hour. You cannot approve your own request.</p>`
    : row.state === 'approved'
      ? html`<p class="hint">${row.asked_by} can do it now.</p>`
      : null;
  return html`<div class="request"><p>${badge(row.state)}</p>${describe(row, what)}${hint}
<div class="acts">${isOwn && row.state === 'approved' ? use : null}
${!isOwn && mayApprove && row.state === 'asked' ? action(`${url}/approve`, 'Approve', { kind: 'primary' }) : null}
${isOwn ? action(`${url}/cancel`, 'Cancel the request') : mayApprove ? action(`${url}/cancel`, 'Decline') : null}</div></div>`;
};

type RequestView = { login: string; mayApprove: boolean; what: string; url: string; use: SafeHtml };
