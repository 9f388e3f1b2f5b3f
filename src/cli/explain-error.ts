import { isPostgresError, UNDEFINED_TABLE } from '#db/sqlstate.ts';
import { CatalogueError, isUnreachable, safeMessage } from '#src/errors.ts';

/** The message that a command prints for an error: the cause and what to do next. */
export const explainError = (error: Error): string => {
  if (error instanceof CatalogueError) return error.message;
  if (isPostgresError(error, UNDEFINED_TABLE))
    return 'The database has no tables yet: run npx catalogue migrate.';
  if (isPostgresError(error)) return `Postgres reported an error: ${error.message} (${error.code}).`;
  if (isUnreachable(error)) {
    const { code, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
    const server = address === undefined ? 'A server' : `The server at ${address}:${port}`;
    return `${server} is unreachable (${code}): check DATABASE_URL and REDIS_URL, and that the servers run.`;
  }
  if (error.name === 'MaxRetriesPerRequestError')
    return 'Redis is unreachable: check REDIS_URL, and that the server runs.';
  return `Internal error, please report it: ${safeMessage(error)}\n${error.stack ?? ''}`;
};
