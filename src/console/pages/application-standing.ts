/** What decides whether games of an application can be live: its hold, and the verdict on its developer. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { HoldRow } from '#db/queries/holds.ts';
import type { PublicVerdict } from '#db/queries/verdicts.ts';
import { REASON_MAX } from '#src/contract/text.ts';
import { holdApplication, releaseApplication } from '#src/operations/holds.ts';
import type { Standing } from '#src/review/standing.ts';
import { OBSTACLES } from '#src/rules/judge-decision.ts';
import { redirectAfter } from '#src/site/answers.ts';
import { formMaxBytes } from '#src/site/form-size.ts';
import { action, ago, badge, due, facts, html, input, type SafeHtml, section } from '#src/site/html.ts';
import { operateFor } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import type { ById } from '#src/site/query.ts';
import { describeVerdictState } from '#src/site/verdict.ts';

export const describeVerdict = (verdict: PublicVerdict | undefined): SafeHtml => {
  if (verdict === undefined) return badge('no verdict');
  const { state, expires_at, ended_at } = verdict;
  if (state === 'standing') return html`${badge(verdict.verdict)} ends ${due(expires_at)}`;
  return html`${badge('none')} "${verdict.verdict}": ${describeVerdictState(state)}, ${ago(ended_at ?? expires_at)}`;
};

const describeHold = (hold: HoldRow | undefined): SafeHtml =>
  hold === undefined
    ? badge('not held', 'plain')
    : html`${badge('held', 'warn')} by ${hold.held_by}, ${ago(hold.held_at)}: ${hold.reason}`;

const holdDetails = (here: string): SafeHtml =>
  html`<details id="hold"><summary class="button">Hold its games…</summary>
<form method="post" action="${here}/hold" class="form">
${input('Reason, which its developer reads', { name: 'reason', required: true, maxlength: REASON_MAX, grow: true })}
<button class="button danger">Hold: no game of it is live</button></form></details>`;

/** @param here the address of the application's page */
export const standingSection = (
  here: string,
  { hold, verdict, obstacle }: Standing,
  mayHold: boolean,
): SafeHtml => {
  const why =
    obstacle === null
      ? null
      : html`<p class="notice warn">No game can be passed: ${OBSTACLES[obstacle]}.</p>`;
  const act =
    hold === undefined
      ? holdDetails(here)
      : action(`${here}/release`, 'Release its games', { fields: { held_at: hold.held_at.toISOString() } });
  const rows = facts([
    ['Verdict', describeVerdict(verdict)],
    ['Hold', describeHold(hold)],
  ]);
  return section('Developer', html`${why}${rows}${mayHold ? html`<div class="body">${act}</div>` : null}`);
};

const holdForm = z.object({ reason: z.string().default('') });
const releaseForm = z.object({ held_at: z.string().optional() });

/** Adds the routes that hold and release the games of an application. */
export const addHolds = (app: FastifyInstance, options: ConsoleOptions): void => {
  const holder = { config: { right: 'hold_applications' }, bodyLimit: formMaxBytes(REASON_MAX) } as const;
  const pageOf = ({ application_id }: ById<'application_id'>['Params']): string =>
    `/applications/${encodeURIComponent(application_id)}`;

  app.post<ById<'application_id'>>('/applications/:application_id/hold', holder, (request, reply) =>
    redirectAfter(reply, pageOf(request.params), async () => {
      const { reason } = holdForm.parse(request.body);
      const { application_id } = request.params;
      const { games } = await operateFor(request, options, holdApplication, { application_id, reason });
      return `${application_id} is held. Games that returned to pending: ${games}.`;
    }),
  );

  app.post<ById<'application_id'>>('/applications/:application_id/release', holder, (request, reply) =>
    redirectAfter(reply, pageOf(request.params), async () => {
      const { application_id } = request.params;
      const given = { application_id, ...releaseForm.parse(request.body) };
      const { games } = await operateFor(request, options, releaseApplication, given);
      return `${application_id} is no longer held. Games that passed again: ${games}.`;
    }),
  );
};
