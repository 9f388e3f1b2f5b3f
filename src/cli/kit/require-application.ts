import type { Database } from '#db/client.ts';
import { type ApplicationRow, findApplication, wasRegistered } from '#db/queries/applications.ts';
import { NotFoundError } from '#src/errors.ts';

/** @throws NotFoundError when the application is not registered, or was removed */
export const requireApplication = async (sql: Database, application_id: string): Promise<ApplicationRow> => {
  const application = await findApplication(sql, application_id);
  if (application === undefined) throw new NotFoundError('application', application_id);
  return application;
};

/**
 * Checks the application that a list is limited to. Lists include applications that were removed.
 * @throws NotFoundError when no application was ever registered under this id
 */
export const checkListFilter = async (sql: Database, application_id: string | undefined): Promise<void> => {
  if (application_id !== undefined && !(await wasRegistered(sql, application_id)))
    throw new NotFoundError('application', application_id);
};
