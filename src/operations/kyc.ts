/** KYC records: pull, reveal, erase, accept a new cp_id. */

import { randomUUIDv7 } from 'node:crypto';
import { z } from 'zod';
import type { Queryable } from '#db/client.ts';
import { findVersion } from '#db/queries/approvals.ts';
import {
  deleteKycRecords,
  findKycRecord,
  findKycState,
  insertKycAccess,
  lockKycState,
  mapContentProvider,
  reopenErased,
  requestKycPull,
  saveKycState,
} from '#db/queries/kyc.ts';
import { findDeveloper } from '#db/queries/kyc-list.ts';
import { nothing } from '#src/contract/documents.ts';
import { reasonText } from '#src/contract/text.ts';
import { CatalogueError, NotFoundError, UsageError } from '#src/errors.ts';
import type { KycView } from '#src/kyc/read-record.ts';
import { openKycRecord } from '#src/kyc/record.ts';
import {
  applicationSubject,
  oneApplication,
  requireActiveApplication,
} from '#src/operations/applications.ts';
import { type Context, defineOperation } from '#src/operations/operation.ts';

const reason = reasonText('the audit log needs it');
export const withReason = oneApplication.extend({ reason: reason.optional() });
type WithReason = z.infer<typeof withReason>;

/** The given reason, or that of the approval. @throws UsageError if there is none */
export const requireReason = (input: WithReason, { approval }: Context): string => {
  const given = input.reason ?? approval?.reason;
  if (given !== undefined) return given;
  throw new UsageError('Give a reason: the audit log needs it.');
};

/** The state of an application, also of a removed one, because its record stays until it is erased. @throws NotFoundError */
const requireState = async (tx: Queryable, application_id: string) => {
  const state = await findKycState(tx, application_id);
  if (state !== undefined) return state;
  throw new NotFoundError('application', application_id);
};

const lockState = async (tx: Queryable, application_id: string) => {
  const { now } = await requireState(tx, application_id);
  return { ...(await lockKycState(tx, application_id)), now };
};

export const pullKycRecord = defineOperation({
  name: 'kyc.pull',
  title: 'Pull the KYC record of an application now',
  answer: nothing,
  right: 'kyc',
  /** An erased record is pulled again only with a reason. */
  input: withReason,
  subject: applicationSubject,
  run: async (tx, { application_id, reason }) => {
    await requireActiveApplication(tx, application_id);
    const { state } = await requireState(tx, application_id);
    if (state !== 'erased') return void (await requestKycPull(tx, application_id));
    if (reason === undefined)
      throw new UsageError(
        `The KYC record of ${application_id} was erased. To pull it again, give a reason: the audit log needs it.`,
      );
    await reopenErased(tx, application_id);
  },
  log: (_, { reason }) => ({ reason: reason ?? null }),
});

/**
 * Before the record is opened, the approval is used up, and the access log and the audit log are written, so if one of
 * these fails, nothing is shown.
 */
export const revealKycRecord = defineOperation({
  name: 'kyc.reveal',
  title: 'Show the KYC record of an application in clear',
  notByToken: 'at the KYC desk',
  right: 'kyc',
  input: withReason,
  subject: applicationSubject,
  secondPerson: {
    kind: 'reveal',
    // A writer that replaces the record waits for this lock, so the approved version is the version that is shown.
    lockVersion: async (tx, { application_id }) => {
      await lockState(tx, application_id);
      return (await findKycRecord(tx, application_id))?.record_id ?? null;
    },
  },
  /** In a process without keys, nothing is written. */
  prepare: (_, { keys }) => keys(),
  run: async (tx, input, context) => {
    const { application_id } = input;
    const reason = requireReason(input, context);
    const overview = await findDeveloper(tx, application_id);
    if (overview === undefined) throw new NotFoundError('application', application_id);
    const row = await findKycRecord(tx, application_id);
    if (row !== undefined) {
      const { record_id } = row;
      const access = { application_id, record_id, action: 'reveal', reason } as const;
      await insertKycAccess(tx, { ...access, accessed_by: context.caller.actor.actor });
    }
    return { overview, row, keys: context.prepared, reason };
  },
  log: ({ row, reason }) => (row === undefined ? [] : { reason, details: { record_id: row.record_id } }),
  /** `record` is null if none is stored. @throws KeyError if the record cannot be decrypted */
  after: async ({ overview, row, keys }): Promise<KycView> => ({
    ...overview,
    record: row === undefined ? null : await openKycRecord(keys, row),
  }),
});

/**
 * Deletes data keys and fingerprints too. The access log keeps who, when and why. A pull in progress then writes nothing,
 * and scheduled pulls skip the application until `kyc.pull`.
 */
export const eraseKycRecord = defineOperation({
  name: 'kyc.erase',
  title: 'Delete every version of the KYC record of an application',
  notByToken: 'at the KYC desk',
  right: 'kyc',
  /** `seen`: the version that the page showed, as a request has it. Absent: any. */
  input: withReason.extend({ seen: z.string().optional() }),
  subject: applicationSubject,
  secondPerson: {
    kind: 'erase',
    lockVersion: async (tx, { application_id }) => {
      await lockState(tx, application_id);
      return findVersion(tx, 'erase', applicationSubject({ application_id }));
    },
  },
  run: async (tx, input, context) => {
    const { application_id, seen } = input;
    const reason = requireReason(input, context);
    const { now } = await lockState(tx, application_id);
    if (seen !== undefined && seen !== (await findVersion(tx, 'erase', applicationSubject(input))))
      throw new CatalogueError(
        `The KYC record of ${application_id} has changed since it was shown: look at it, then decide again.`,
      );
    const access = { application_id, record_id: null, action: 'erase', reason } as const;
    await insertKycAccess(tx, { ...access, accessed_by: context.caller.actor.actor });
    await saveKycState(tx, application_id, { state: 'erased', pulled_at: now, refused_cp_id: null });
    return { application_id, versions: await deleteKycRecords(tx, application_id), reason };
  },
  log: ({ versions, reason }) => ({ reason, details: { versions } }),
  after: async ({ application_id, versions }) => ({ application_id, versions }),
});

/** Maps it to a new platform `cp_id`, or to its former one, and requests its record. */
export const acceptCpId = defineOperation({
  name: 'kyc.accept_cp_id',
  title: 'Accept a new cp_id of an application',
  notByToken: 'at the KYC desk',
  right: 'kyc',
  /** `cp_id`: the application's own, as the operator saw it. */
  input: withReason.extend({ cp_id: z.string() }),
  subject: applicationSubject,
  secondPerson: {
    kind: 'cp-id',
    lockVersion: async (tx, { application_id }) => (await lockState(tx, application_id)).refused_cp_id,
  },
  run: async (tx, { application_id, cp_id }) => {
    const { refused_cp_id, pulled_at } = await lockState(tx, application_id);
    if (refused_cp_id === null)
      throw new CatalogueError(`No other cp_id of ${application_id} waits to be accepted.`);
    if (cp_id !== refused_cp_id)
      throw new CatalogueError(
        `The cp_id of ${application_id} that waits to be accepted is ${refused_cp_id}, not ${cp_id}: look at it, then decide again.`,
      );
    await saveKycState(tx, application_id, { state: 'pending', pulled_at, refused_cp_id: null });
    await requestKycPull(tx, application_id);
    return mapContentProvider(tx, {
      cp_id: randomUUIDv7(),
      application_id,
      application_cp_id: refused_cp_id,
    });
  },
  log: ({ cp_id }, { reason }, { approval }) => ({
    reason: reason ?? approval?.reason ?? null,
    details: { cp_id },
  }),
  after: async ({ cp_id, application_cp_id }, { application_id }) => ({
    application_id,
    cp_id,
    application_cp_id,
  }),
});
