import { type Database, openDatabase } from '#db/client.ts';
import { type ApplicationRow, findApplication, wasRegistered } from '#db/queries/applications.ts';
import { type CommandContext, findDatabaseUrl } from '#src/cli/frame.ts';
import { UsageError } from '#src/errors.ts';
import type { Foundation } from '#src/roles/foundation.ts';

const CLOSE_S = 2;

/** Do something with the database alone. */
export const withDatabase = async <Result>(
  { config }: CommandContext,
  work: (sql: Database) => Promise<Result>,
): Promise<Result> => {
  const sql = openDatabase(await findDatabaseUrl(config), { max: 4, applicationName: 'catalogue cli' });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: CLOSE_S });
  }
};

/** Do something with the database and the queues. */
export const withFoundation = async <Result>(
  { config }: CommandContext,
  work: (foundation: Foundation) => Promise<Result>,
): Promise<Result> => {
  const { openFoundation } = await import('#src/roles/foundation.ts');
  const { createLogger } = await import('#src/logger.ts');
  const logger = createLogger('silent', { pretty: false, role: 'cli' });
  const databaseUrl = await findDatabaseUrl(config);
  await using foundation = openFoundation(config, databaseUrl, {
    role: 'producer',
    name: 'cli',
    maxConnections: 4,
    logger,
  });
  // Ask first: what comes back is then the plain reason why a server does not answer.
  await foundation.sql`select 1`;
  await foundation.backend.ping();
  return await work(foundation);
};

const unknownApplication = (application_id: string): UsageError =>
  new UsageError(
    `There is no application "${application_id}": npx catalogue app list shows those there are.`,
  );

/** The application, or a sentence that says where to look. */
export const requireApplication = async (sql: Database, application_id: string): Promise<ApplicationRow> => {
  const application = await findApplication(sql, application_id);
  if (application !== undefined) return application;
  throw unknownApplication(application_id);
};

/** What is listed of an application; one that nobody ever registered has no empty list. */
export const listOf = async <Row>(
  sql: Database,
  application_id: string | undefined,
  rows: Promise<Row[]>,
): Promise<Row[]> => {
  const listed = await rows;
  if (application_id !== undefined && listed.length === 0 && !(await wasRegistered(sql, application_id)))
    throw unknownApplication(application_id);
  return listed;
};
