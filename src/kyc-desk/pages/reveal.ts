/**
 * The page that shows a record in clear. It answers a POST, so that no address leads to it, no back button shows it and no
 * cache keeps it. After `revealMs` the browser leaves it, also without script; a script also removes the values when the
 * officer leaves it before.
 */
import type { FastifyReply } from 'fastify';
import { KYC_SEALED_FIELDS } from '#src/contract/application.ts';
import type { KycView } from '#src/kyc/read-record.ts';
import { recordCpId } from '#src/kyc-desk/pages/parts.ts';
import { sendPage } from '#src/site/answers.ts';
import { facts, html, section } from '#src/site/html.ts';

/** Sends the page. @param view.here where the browser goes after `revealMs` */
export const sendReveal = (
  reply: FastifyReply,
  { record, ...developer }: KycView,
  { here, revealMs }: { here: string; revealMs: number },
): FastifyReply => {
  reply.header('refresh', `${Math.ceil(revealMs / 1_000)}; url=${here}`);
  const body =
    record === null
      ? section('Record', html`<div class="empty"><p>No record is stored.</p></div>`)
      : html`<div class="countdown" role="img" aria-label="This page closes by itself after two minutes">
<span></span></div>
<div class="closing"><p class="seconds" aria-hidden="true"></p>
<a class="button primary" href="${here}">Hide now</a></div>
<div data-revealed>${section(
          'Record, in clear',
          facts([
            ['cp_id', recordCpId(developer)],
            ...KYC_SEALED_FIELDS.map(
              (field) => [field, record[field] === '' ? '(empty)' : record[field]] as const,
            ),
          ]),
        )}</div>`;
  return sendPage(reply, {
    title: `Record of ${developer.application_id}`,
    at: '/',
    body,
    parent: ['Masked record', here],
    lead: 'Shown once, for two minutes. The audit log has your name and the reason.',
  });
};
