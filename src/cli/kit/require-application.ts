import type { Database } from '#db/client.ts';
import {
  type ApplicationRow,
  findApplication,
  listApplications,
  wasRegistered,
} from '#db/queries/applications.ts';
import { UsageError } from '#src/errors.ts';

/** A typed id is this many changed characters away from the one that was meant, at most, or begins it. */
const TYPOS_MAX = 3;

const findSimilar = async (sql: Database, application_id: string): Promise<string | undefined> => {
  const { closest, distance } = await import('fastest-levenshtein');
  const ids = (await listApplications(sql)).map((row) => row.application_id);
  if (ids.length === 0) return undefined;
  const similar = closest(application_id, ids);
  const isTypo = distance(application_id, similar) <= Math.min(TYPOS_MAX, application_id.length / 2);
  return isTypo ? similar : ids.find((id) => id.startsWith(application_id));
};

/** The error for an id under which no application is registered: names a similar id. */
export const unknownApplication = async (sql: Database, application_id: string): Promise<UsageError> => {
  const similar = await findSimilar(sql, application_id);
  const hint = similar === undefined ? '' : ` Did you mean ${similar}?`;
  return new UsageError(
    `There is no application "${application_id}".${hint} List them: npx catalogue app list`,
  );
};

/** @throws UsageError when the application is not registered, or was removed */
export const requireApplication = async (sql: Database, application_id: string): Promise<ApplicationRow> => {
  const application = await findApplication(sql, application_id);
  if (application === undefined) throw await unknownApplication(sql, application_id);
  return application;
};

/**
 * Checks the application that a list is limited to. Lists include applications that were removed.
 * @throws UsageError when no application was ever registered under this id
 */
export const checkListFilter = async (sql: Database, application_id: string | undefined): Promise<void> => {
  if (application_id !== undefined && !(await wasRegistered(sql, application_id)))
    throw await unknownApplication(sql, application_id);
};
