/** What operators do to applications, each with its entry in the audit log: for the console and the command line. */
import type { Database } from '#db/client.ts';
import {
  type ApplicationRow,
  type ApplicationSettings,
  insertApplication,
  resumeApplications,
  type SealedAccessToken,
  setApplicationStatus,
  updateApplication,
} from '#db/queries/applications.ts';
import { type Actor, recordAudit } from '#db/queries/audit.ts';
import { changeAudited, describeUrl } from '#src/actions/audited.ts';
import { removeApplication } from '#src/actions/remove-application.ts';

/** Settings for the audit log: no token, and no secret in an address. */
const describeSettings = (settings: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(settings)
      .filter(([name]) => name !== 'access_token_keys')
      .map(([name, value]) => {
        if (name === 'access_token') return [name, 'changed'];
        return [name, name.endsWith('_webhook') ? describeUrl(String(value)) : value];
      }),
  );

/** Registers an application. @returns false when the id is taken */
export const registerApplication = (
  sql: Database,
  actor: Actor,
  application_id: string,
  settings: ApplicationSettings,
  token: SealedAccessToken,
): Promise<boolean> => {
  const entry = { subject: `application:${application_id}`, details: describeSettings(settings) };
  return changeAudited(sql, actor, { action: 'application.add', ...entry }, (tx) =>
    insertApplication(tx, application_id, settings, token),
  );
};

/**
 * Changes the given settings.
 * @param seen the application from which the changes were computed
 * @returns false when its webhooks or its token have changed since, or it was removed
 */
export const changeApplication = (
  sql: Database,
  actor: Actor,
  seen: ApplicationRow,
  changes: Partial<ApplicationSettings> & Partial<SealedAccessToken>,
): Promise<boolean> => {
  const { application_id } = seen;
  const entry = { subject: `application:${application_id}`, details: describeSettings(changes) };
  return changeAudited(sql, actor, { action: 'application.update', ...entry }, (tx) =>
    updateApplication(tx, application_id, changes, seen),
  );
};

/** Stops the schedules of an application, or starts them again. @returns false when there is no such application */
export const switchApplication = (
  sql: Database,
  actor: Actor,
  application_id: string,
  status: 'active' | 'paused',
): Promise<boolean> => {
  const action = status === 'paused' ? 'application.pause' : 'application.resume';
  return changeAudited(sql, actor, { action, subject: `application:${application_id}` }, (tx) =>
    setApplicationStatus(tx, application_id, status),
  );
};

/** Resumes every application that failed runs have paused or delayed. @returns the ids, in order */
export const resumeFailingApplications = (sql: Database, actor: Actor): Promise<string[]> =>
  sql.begin(async (tx) => {
    const ids = await resumeApplications(tx);
    await recordAudit(
      tx,
      ids.map((id) => ({ ...actor, action: 'application.resume', subject: `application:${id}` })),
    );
    return ids;
  });

/** Removes an application (see `removeApplication`). @returns false when there is no such application */
export const dropApplication = (sql: Database, actor: Actor, application_id: string): Promise<boolean> =>
  removeApplication(sql, application_id, (tx) =>
    recordAudit(tx, [{ ...actor, action: 'application.remove', subject: `application:${application_id}` }]),
  );
