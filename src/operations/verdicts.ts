/** A verdict on a developer: verified, refused, or incomplete. It is bound to the version of the record that was seen. */

import { z } from 'zod';
import { isRegistered } from '#db/queries/applications.ts';
import { findVersion } from '#db/queries/approvals.ts';
import { findContentProvider, findKycRecord, lockKycState } from '#db/queries/kyc.ts';
import { insertVerdict } from '#db/queries/verdicts.ts';
import { duration } from '#src/contract/application-settings.ts';
import { prose } from '#src/contract/text.ts';
import { VERDICTS } from '#src/contract/words.ts';
import { CatalogueError, NotFoundError } from '#src/errors.ts';
import { DAY_MS } from '#src/lib/duration.ts';
import { applicationSubject } from '#src/operations/applications.ts';
import { requireReason, withReason } from '#src/operations/kyc.ts';
import { type Context, defineOperation } from '#src/operations/operation.ts';
import { ApprovalError } from '#src/operations/second-person.ts';

/** The default lifetime of a verdict. */
export const VERDICT_LIFETIME_MS = 365 * DAY_MS;

/** The terms of a verdict that the second person approves, besides the reason. */
export const verdictTerms = z.object({
  verdict: z.enum(VERDICTS),
  /** For the application's developer. */
  text: prose.transform((text) => text || undefined).optional(),
  /** From now. */
  expires: duration(DAY_MS, 3_650 * DAY_MS).optional(),
});
type Terms = z.infer<typeof verdictTerms>;

/** The approved terms, or else the given ones. @throws ApprovalError if others were approved than are given */
const agreeTerms = (given: Terms, { approval }: Context): Terms => {
  if (approval === undefined) return given;
  const { verdict, text, expires } = approval.requested;
  const isSame =
    given.verdict === verdict &&
    (given.text ?? text ?? null) === (text ?? null) &&
    (given.expires ?? expires) === expires;
  if (!isSame)
    throw new ApprovalError('Another verdict was approved for this developer: request this one too.');
  return { verdict: given.verdict, text, expires };
};

export const giveVerdict = defineOperation({
  name: 'kyc.verdict',
  title: 'Give a verdict on the developer of an application',
  right: 'kyc',
  notByToken: 'at the KYC desk',
  input: withReason.extend({
    ...verdictTerms.shape,
    /** The version of the record that the officer saw. */
    record_id: z.guid().toLowerCase(),
    /** The version that the page showed, as a request has it, which names the verdict before too. Absent: any verdict. */
    seen: z.string().optional(),
  }),
  subject: applicationSubject,
  secondPerson: {
    kind: 'verdict',
    // A writer that replaces the record waits for this lock.
    lockVersion: async (tx, { application_id }) => {
      if (!(await isRegistered(tx, application_id))) throw new NotFoundError('application', application_id);
      await lockKycState(tx, application_id);
      return findVersion(tx, 'verdict', applicationSubject({ application_id }));
    },
  },
  run: async (tx, input, context) => {
    const { application_id, record_id, seen } = input;
    const reason = requireReason(input, context);
    const { verdict, text = null, expires = VERDICT_LIFETIME_MS } = agreeTerms(input, context);
    const record = await findKycRecord(tx, application_id);
    if (record === undefined)
      throw new CatalogueError(`${application_id} has no KYC record: there is nothing to give a verdict on.`);
    if (record.record_id !== record_id)
      throw new CatalogueError(
        `The KYC record of ${application_id} has changed since it was shown: look at it, then decide again.`,
      );
    if (record.cp_id !== (await findContentProvider(tx, application_id))?.cp_id)
      throw new CatalogueError(
        `The KYC record of ${application_id} is of its former cp_id: a verdict waits for the record of the one that was accepted.`,
      );
    if (seen !== undefined && seen !== (await findVersion(tx, 'verdict', applicationSubject(input))))
      throw new CatalogueError(
        `Another verdict on ${application_id} was given since it was shown: look at it, then decide again.`,
      );
    const decided_by = context.caller.actor.actor;
    const terms = { verdict, text, expires_ms: expires };
    return insertVerdict(tx, { application_id, record_id, reason, decided_by, ...terms });
  },
  log: ({ verdict_id, record_id, verdict, reason, expires_at }) => ({
    reason,
    details: { verdict_id, record_id, verdict, expires_at },
  }),
});
