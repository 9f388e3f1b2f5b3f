/** What an officer does to one record: ask, reveal, erase, accept a cp_id. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { findApproval } from '#db/queries/approvals.ts';
import { operatorActor } from '#db/queries/audit.ts';
import { askForApproval } from '#src/approvals/requests.ts';
import type { SecondPerson } from '#src/approvals/rule.ts';
import { KYC_APPROVAL_KINDS } from '#src/contract/approvals.ts';
import { CatalogueError } from '#src/errors.ts';
import { confirmOperator } from '#src/identity/sign-in.ts';
import { acceptCpId, eraseKyc } from '#src/kyc/decisions.ts';
import type { ActorWithReason } from '#src/kyc/guards.ts';
import { revealKyc } from '#src/kyc/read-record.ts';
import type { DeskOptions } from '#src/kyc-desk/options.ts';
import { developerPath } from '#src/kyc-desk/pages/parts.ts';
import { sendReveal } from '#src/kyc-desk/pages/reveal.ts';
import { operatorOf, orNotice, redirectWith } from '#src/site/answers.ts';
import type { ById } from '#src/site/query.ts';
import { readSessionCookie } from '#src/site/sign-in.ts';

const REASON_MAX = 1_000;
/** Room for the longest form in any script: a character takes up to nine bytes in a form. */
const FORM_MAX_BYTES = 32 * 1024;
const reason = z.string().trim().max(REASON_MAX).default('');
const askForm = z.object({ kind: z.enum(KYC_APPROVAL_KINDS), seen: z.string().max(600), reason });
const deedForm = z.object({
  approval: z.uuid().optional(),
  reason,
  password: z.string().max(1_024).default(''),
  cp_id: z.string().max(600).default(''),
});

type Params = ById<'application_id'>;

/** Adds the actions of the developer's page. */
export const addDeeds = (app: FastifyInstance, options: DeskOptions): void => {
  const { sql, keys, fourEyes } = options;
  const officer = { config: { right: 'kyc' }, bodyLimit: FORM_MAX_BYTES } as const;

  /** Goes back to the developer with what was done, or why it was not. */
  const answer = (reply: FastifyReply, application_id: string, work: () => Promise<string>) => {
    const here = developerPath(application_id);
    return orNotice(reply, here, async () => redirectWith(reply, here, await work()));
  };

  /** Who acts, why, and with which approval: its reason is the one that was approved. */
  const readDeed = async (request: FastifyRequest) => {
    const form = deedForm.parse(request.body);
    const approval = form.approval === undefined ? undefined : await findApproval(sql, form.approval);
    if (form.approval !== undefined && approval === undefined)
      throw new CatalogueError('There is no such request.');
    const { login } = operatorOf(request);
    const reason = approval?.reason ?? form.reason;
    const actor: ActorWithReason = { ...operatorActor(login), reason };
    if (reason === '') throw new CatalogueError('Give a reason: the audit log needs it.');
    const second: SecondPerson = { fourEyes, approval_id: form.approval };
    return { form, login, actor, second };
  };

  app.post<Params>('/developers/:application_id/ask', officer, (request, reply) => {
    const { application_id } = request.params;
    return answer(reply, application_id, async () => {
      const { kind, seen, reason: why } = askForm.parse(request.body);
      const subject = `application:${application_id}`;
      await askForApproval(sql, operatorOf(request).login, { kind, subject, reason: why, seen });
      return 'Asked. Another KYC officer can approve it within an hour.';
    });
  });

  app.post<Params>('/developers/:application_id/reveal', officer, async (request, reply) => {
    const { application_id } = request.params;
    const here = developerPath(application_id);
    return orNotice(reply, here, async () => {
      const { form, login, actor, second } = await readDeed(request);
      const session = readSessionCookie(request) ?? '';
      const proof = await confirmOperator(sql, { session, login, password: form.password }, request.ip);
      if (proof.kind === 'too_many')
        throw new CatalogueError(
          `Too many wrong passwords: retry in ${Math.ceil(proof.waitSeconds / 60)} min.`,
        );
      if (proof.kind === 'refused')
        throw new CatalogueError(
          form.password === ''
            ? 'Not revealed: your fresh sign-in is older than five minutes. Sign in again.'
            : 'Not revealed: the password is wrong.',
        );
      const view = await revealKyc(sql, keys, application_id, actor, second);
      return sendReveal(reply, view, { here, revealMs: options.revealMs });
    });
  });

  app.post<Params>('/developers/:application_id/erase', officer, (request, reply) => {
    const { application_id } = request.params;
    return answer(reply, application_id, async () => {
      const { actor, second } = await readDeed(request);
      const versions = await eraseKyc(sql, application_id, actor, second);
      return `Erased: ${versions} ${versions === 1 ? 'version' : 'versions'}.`;
    });
  });

  app.post<Params>('/developers/:application_id/accept-cp-id', officer, (request, reply) => {
    const { application_id } = request.params;
    return answer(reply, application_id, async () => {
      const { form, actor, second } = await readDeed(request);
      const { application_cp_id } = await acceptCpId(sql, application_id, actor, form.cp_id, second);
      return `Accepted ${application_cp_id}. Its record is pulled now.`;
    });
  });
};
