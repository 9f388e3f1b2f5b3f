/** The routes of an officer's acts on a record: reveal, erase, accept a cp_id, give a verdict, and request approvals. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { KYC_APPROVAL_KINDS } from '#src/contract/approvals.ts';
import { PROSE_MAX, REASON_MAX } from '#src/contract/text.ts';
import { CatalogueError } from '#src/errors.ts';
import type { DeskOptions } from '#src/kyc-desk/options.ts';
import { developerPath } from '#src/kyc-desk/pages/parts.ts';
import { sendReveal } from '#src/kyc-desk/pages/reveal.ts';
import { acceptCpId, eraseKycRecord, revealKycRecord } from '#src/operations/kyc.ts';
import { giveVerdict } from '#src/operations/verdicts.ts';
import { redirectAfter, redirectOnRefusal } from '#src/site/answers.ts';
import { confirm, PROOF_MAX } from '#src/site/confirm.ts';
import { formMaxBytes } from '#src/site/form-size.ts';
import { operateFor } from '#src/site/operate.ts';
import type { ById } from '#src/site/query.ts';
import { addRequestActions, verdictForm } from '#src/site/requests.ts';

/** With an approval, the reason is the one that was approved. */
const fields = z.object({
  approval: z.string().optional(),
  reason: z.string().optional(),
  password: z.string().max(PROOF_MAX).default(''),
  cp_id: z.string().default(''),
  record_id: z.string().default(''),
  seen: z.string().optional(),
  ...verdictForm.shape,
});

type Request = FastifyRequest<ById<'application_id'>>;

/** Adds the actions of the developer's page. */
export const addActions = (app: FastifyInstance, options: DeskOptions): void => {
  const officer = { config: { right: 'kyc' }, bodyLimit: formMaxBytes(PROSE_MAX + REASON_MAX) } as const;

  /** Reads the fields of a form that operations take. */
  const readForm = (request: Request) => {
    const form = fields.parse(request.body);
    const { approval: approval_id, password, cp_id, record_id, seen, reason: given, ...terms } = form;
    const { application_id } = request.params;
    const reason = approval_id === undefined ? given : undefined;
    if (approval_id === undefined && !reason?.trim())
      throw new CatalogueError('Give a reason: the audit log needs it.');
    return { given: { application_id, approval_id, reason }, password, cp_id, record_id, seen, terms };
  };

  app.post<ById<'application_id'>>('/developers/:application_id/reveal', officer, (request, reply) => {
    const here = developerPath(request.params.application_id);
    return redirectOnRefusal(reply, here, async () => {
      const { given, password } = readForm(request);
      await confirm(request, options, password, 'Not revealed');
      const view = await operateFor(request, options, revealKycRecord, given);
      return sendReveal(reply, view, { here, revealMs: options.revealMs });
    });
  });

  app.post<ById<'application_id'>>('/developers/:application_id/erase', officer, (request, reply) =>
    redirectAfter(reply, developerPath(request.params.application_id), async () => {
      const { given, seen } = readForm(request);
      const { versions } = await operateFor(request, options, eraseKycRecord, { ...given, seen });
      return `Erased: ${versions} ${versions === 1 ? 'version' : 'versions'}.`;
    }),
  );

  app.post<ById<'application_id'>>('/developers/:application_id/verdict', officer, (request, reply) =>
    redirectAfter(reply, developerPath(request.params.application_id), async () => {
      const { given, record_id, seen, terms } = readForm(request);
      const { verdict, ...rest } = terms;
      if (verdict === undefined) throw new CatalogueError('Choose a verdict.');
      const judged = { ...given, record_id, seen, verdict, ...rest };
      const row = await operateFor(request, options, giveVerdict, judged);
      return `${given.application_id}: ${row.verdict}.`;
    }),
  );

  app.post<ById<'application_id'>>('/developers/:application_id/accept-cp-id', officer, (request, reply) =>
    redirectAfter(reply, developerPath(request.params.application_id), async () => {
      const { given, cp_id } = readForm(request);
      const { application_cp_id } = await operateFor(request, options, acceptCpId, { ...given, cp_id });
      return `Accepted ${application_cp_id}. Its record is pulled now.`;
    }),
  );

  addRequestActions(app, options, {
    kinds: KYC_APPROVAL_KINDS,
    alsoApproves: ['officer'],
    pageOf: (subject) =>
      subject.startsWith('operator:') ? '/requests' : developerPath(subject.slice('application:'.length)),
  });
};
