import {
  INSUFFICIENT_PRIVILEGE,
  INVALID_PASSWORD,
  isPostgresError,
  UNDEFINED_TABLE,
  UNKNOWN_DATABASE,
} from '#db/sqlstate.ts';
import { CatalogueError, isUnreachable, safeMessage } from '#src/errors.ts';

const URL_OF_PROCESS = 'DATABASE_URL, or the DATABASE_URL_… of this process';

/** What to do next, by the code of an error of Postgres. */
const NEXT_STEPS: Readonly<Record<string, string>> = {
  [UNDEFINED_TABLE]: 'The database has no tables yet: run npx catalogue migrate.',
  [INVALID_PASSWORD]: `Check the user and the password of ${URL_OF_PROCESS}.`,
  [UNKNOWN_DATABASE]: `Create it with createdb, then run npx catalogue migrate; or check the name in ${URL_OF_PROCESS}.`,
  [INSUFFICIENT_PRIVILEGE]:
    'The database role has no such right. Check that the URL is not that of another process: commands use DATABASE_URL_OPERATOR, a worker DATABASE_URL_WORKER and so on, or DATABASE_URL. npx catalogue migrate grants the rights (docs/security.md).',
};

/** Which server a failed connection was to: a failed lookup has the name, a failed connect the address. */
type ServerOfError = { hostname?: string; address?: string; port?: number };

/** The message that a command prints for an error: the cause and what to do next. */
export const explainError = (error: Error): string => {
  if (error instanceof CatalogueError) return error.message;
  if (isPostgresError(error))
    return [`Postgres reported an error: ${error.message} (${error.code}).`, NEXT_STEPS[error.code] ?? '']
      .join(' ')
      .trim();
  if (isUnreachable(error)) {
    const { code, hostname, address, port } = error as NodeJS.ErrnoException & ServerOfError;
    const where = hostname ?? (address === undefined ? undefined : `${address}:${port}`);
    const server = where === undefined ? 'A server' : `The server at ${where}`;
    return `${server} is unreachable (${code}): check ${URL_OF_PROCESS}, and REDIS_URL, and that the servers run.`;
  }
  if (error.name === 'MaxRetriesPerRequestError')
    return 'Redis is unreachable: check REDIS_URL, and that the server runs.';
  return `Internal error, please report it: ${safeMessage(error)}\n${error.stack ?? ''}`;
};
