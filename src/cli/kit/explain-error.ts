import type { Database } from '#db/client.ts';
import { listApplications } from '#db/queries/applications.ts';
import {
  INSUFFICIENT_PRIVILEGE,
  INVALID_PASSWORD,
  isPostgresError,
  PASS_REFUSED,
  UNDEFINED_TABLE,
  UNKNOWN_DATABASE,
} from '#db/sqlstate.ts';
import { CatalogueError, isUnreachable, type NamedThing, NotFoundError, safeMessage } from '#src/errors.ts';
import { explainServerFault } from '#src/server-faults.ts';

const URL_OF_PROCESS = 'DATABASE_URL_OPERATOR, the DATABASE_URL_… of this process, or DATABASE_URL';

/** What to do next, by the code of an error of Postgres. */
const NEXT_STEPS: Readonly<Record<string, string>> = {
  [UNDEFINED_TABLE]: 'The database has no tables yet: run npx catalogue migrate.',
  [INVALID_PASSWORD]: `Check the user and the password of ${URL_OF_PROCESS}.`,
  [PASS_REFUSED]:
    'Release the application (app release), or have a KYC officer give a verdict (kyc verdict).',
  [UNKNOWN_DATABASE]: `Create it with createdb, then run npx catalogue migrate; or check the name in ${URL_OF_PROCESS}.`,
  [INSUFFICIENT_PRIVILEGE]:
    'The database role has no such right. Check that the URL is not that of another process: commands use DATABASE_URL_OPERATOR, a worker DATABASE_URL_WORKER and so on, or DATABASE_URL. npx catalogue migrate grants the rights (docs/security.md).',
};

/** The server of a failed connection: a failed lookup has its name, a failed connect its address. */
type ServerOfError = { hostname?: string; address?: string; port?: number };

/** The message that a command prints for an error: the cause and what to do next. */
export const explainError = (error: Error): string => {
  if (error instanceof CatalogueError) return error.message;
  const fault = explainServerFault(error);
  const next = isPostgresError(error) ? NEXT_STEPS[error.code] : undefined;
  if (fault !== undefined && next === undefined) return `Failed because ${fault}`;
  if (isPostgresError(error))
    return [`Postgres reported an error: ${error.message} (${error.code}).`, next ?? ''].join(' ').trim();
  if (isUnreachable(error)) {
    const { code, hostname, address, port } = error as NodeJS.ErrnoException & ServerOfError;
    const where = hostname ?? (address === undefined ? undefined : `${address}:${port}`);
    const server = where === undefined ? 'A server' : `The server at ${where}`;
    // What a Postgres without TLS does to a connection with sslmode=verify-full.
    const tls = code === 'ECONNRESET' ? ', with TLS where a URL requires it' : '';
    return `${server} is unreachable (${code}): check ${URL_OF_PROCESS}, and REDIS_URL, and that the servers run${tls}.`;
  }
  return `Internal error, please report it: ${safeMessage(error)}\n${error.stack ?? ''}`;
};

/** The command that prints the ids of each kind. */
const LISTS: Record<NamedThing, string> = {
  application: 'app list',
  approval: 'approval list',
  batch: 'audit list --action game.pass',
  decision: 'game show GAME',
  event: 'event deliveries',
  game: 'game list',
  operator: 'operator list',
  queue: 'queue status',
  reason: 'reason list',
  run: 'run list',
  subscription: 'event subscriptions',
  token: 'token list',
};

/** A typed id differs from the meant one in at most this many characters, or is its beginning. */
const TYPOS_MAX = 3;

const findSimilar = async (sql: Database, application_id: string): Promise<string | undefined> => {
  const { closest, distance } = await import('fastest-levenshtein');
  const ids = (await listApplications(sql)).map((row) => row.application_id);
  if (ids.length === 0) return undefined;
  const similar = closest(application_id, ids);
  const isTypo = distance(application_id, similar) <= Math.min(TYPOS_MAX, application_id.length / 2);
  return isTypo ? similar : ids.find((id) => id.startsWith(application_id));
};

/** Adds a similar id and the command that lists the ids to the error for an unknown id. Other errors stay. */
export const addHint = async (error: Error, openDatabase: () => Promise<Database>): Promise<Error> => {
  if (!(error instanceof NotFoundError)) return error;
  const { thing, id, message, exitCode } = error;
  const similar = thing === 'application' ? await findSimilar(await openDatabase(), id) : undefined;
  const meant = similar === undefined ? '' : ` Did you mean ${similar}?`;
  return new CatalogueError(`${message}${meant} List them: npx catalogue ${LISTS[thing]}`, { exitCode });
};
