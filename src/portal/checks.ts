/** `/portal/checks`. */
import type { FastifyInstance } from 'fastify';
import type { CheckRow } from '#db/queries/application-checks.ts';
import type { ApplicationRow } from '#db/queries/applications.ts';
import { checkList } from '#src/lists/checks.ts';
import { readFirst } from '#src/lists/read.ts';
import { requestCheck } from '#src/operations/checks.ts';
import { operate } from '#src/operations/operate.ts';
import { countBroken } from '#src/portal/problems.ts';
import { answerPoll, readReading } from '#src/portal/reading.ts';
import { callerOfHolder, holderOf, SIGNED_IN, sendPortal } from '#src/portal/session.ts';
import { describeAddressChange, isAllRight, pausedChecksBanner } from '#src/portal/unread.ts';
import { redirectWith } from '#src/site/answers.ts';
import { checkSection, explainCheck } from '#src/site/check-report.ts';
import { facts, html, mono, type SafeHtml, section, type Tone } from '#src/site/html.ts';
import { platformOf } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { isPolling } from '#src/site/site.ts';
import { sourcesOf } from '#src/site/sources.ts';

const HERE = '/portal/checks';

const BEFORE_CHECK = html`<p class="body">Each webhook is called with valid and with invalid requests. A rule that does not hold is
shown with what was expected and what was received. Only the report is stored.</p>`;

/** What the checks call. */
const webhooksSection = (application: ApplicationRow, contact: string | undefined): SafeHtml =>
  section(
    'Your webhooks',
    html`${facts([
      ['query_game_list', mono(application.query_game_list_webhook)],
      ['query_game_detail', mono(application.query_game_detail_webhook)],
      ['query_cp_kyc', mono(application.query_cp_kyc_webhook)],
    ])}<p class="body soft">${describeAddressChange(contact)}</p>`,
  );

/** What a report says, first of all. */
const titleOf = (check: CheckRow | undefined): { title: string; tone?: Tone } => {
  if (check === undefined) return { title: 'Your webhooks have not been checked yet' };
  if (check.finished_at === null) return { title: 'Running the checks', tone: 'info' };
  if (check.error !== null) return { title: 'The last check has no report', tone: 'warn' };
  if (check.failed === 0) return { title: 'Every rule that was checked holds', tone: 'good' };
  return { title: countBroken(check.failed), tone: 'bad' };
};

/** Adds `/portal/checks`. */
export const addPortalChecks = (portal: FastifyInstance, options: ConsoleOptions): void => {
  const sources = sourcesOf(options);
  portal.get(HERE, SIGNED_IN, async (request, reply) => {
    const { application_id } = holderOf(request);
    const [[check], reading] = await Promise.all([
      readFirst(checkList, sources, { application_id }, 1),
      readReading(sources, application_id),
    ]);
    // A reload updates the count of the menu too.
    if (isPolling(request)) return answerPoll(reply, check?.finished_at === null);
    return sendPortal(reply, {
      title: 'Checks',
      at: HERE,
      body: html`${pausedChecksBanner(reading, check, options.contact)}${checkSection(check, {
        ...titleOf(check),
        here: HERE,
        mayRun: true,
        namesOperators: false,
        kind: isAllRight(check) ? '' : 'primary',
        never: BEFORE_CHECK,
      })}${reading.application && webhooksSection(reading.application, options.contact)}`,
      lead: 'The checks call your three webhooks and compare each answer with the interface document, which you have from the operators.',
    });
  });

  portal.post(HERE, SIGNED_IN, async (request, reply) => {
    const { application_id } = holderOf(request);
    const caller = callerOfHolder(request);
    const { opened } = await operate(requestCheck, { application_id }, caller, platformOf(options));
    return redirectWith(reply, HERE, explainCheck(opened), opened ? 'good' : 'bad');
  });
};
