import { expect, test } from 'vitest';
import { explainError } from '#src/cli/kit/explain-error.ts';
import { safeMessage } from '#src/errors.ts';

const postgresError = (code: string, message: string): Error =>
  Object.assign(new Error(message), { name: 'PostgresError', code });

test('a right that is missing: the log says so in words, a command names the table and the next step', () => {
  const error = postgresError('42501', 'permission denied for table games');
  expect(safeMessage(error)).toBe('Postgres denies the role of the process a right (42501)');
  expect(explainError(error)).toMatch(
    /^Postgres reported an error: permission denied for table games \(42501\)\. /,
  );
  expect(explainError(error)).toContain('npx catalogue migrate grants the rights');
});

test('a connection that fails: the log does not leave open whether the application or the platform is down', () => {
  const error = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:5432'), { code: 'ECONNREFUSED' });
  expect(safeMessage(error)).toBe(
    'Postgres, Redis or a service of the platform is unreachable (ECONNREFUSED)',
  );
});

test('a password that is refused: the log says so in words, a command names the variable', () => {
  const error = postgresError('28P01', 'password authentication failed for user "catalogue_worker"');
  expect(safeMessage(error)).toBe('Postgres refuses the password of the role (28P01)');
  expect(explainError(error)).toContain('Check the user and the password of DATABASE_URL_OPERATOR');
});

test.for([
  ['the command zadd', "NOPERM User w has no permissions to run the 'zadd' command"],
  ['the command info', "NOPERM this user has no permissions to run the 'info' command"],
  [
    'a key of this command',
    'NOPERM this user has no permissions to access one of the keys used as arguments',
  ],
  ['a key of this command', 'NOPERM No permissions to access a key'],
  [
    'this command',
    "ERR The user executing the script can't run this command or subcommand script: 5ab4, on @user_script:68.",
  ],
  [
    'the command zadd',
    "ERR ACL failure in script: User w has no permissions to run the 'zadd' command script: 5ab4",
  ],
] as const)('what a user of Redis lacks is named, in a script too: %s', ([what, message]) => {
  const error = Object.assign(new Error(message), { name: 'ReplyError' });
  expect(safeMessage(error)).toBe(`Redis does not allow its user ${what} (NOPERM)`);
  expect(explainError(error)).toMatch(
    /^Failed because .* Grant the user of REDIS_URL what docker-compose\.yml /,
  );
  expect(/QUEUE_PREFIX/.test(explainError(error) ?? '')).toBe(what.includes('key'));
  const discarded = Object.assign(new Error('EXECABORT Transaction discarded because of previous errors.'), {
    name: 'ReplyError',
    previousErrors: [error],
  });
  expect(safeMessage(discarded)).toBe(safeMessage(error));
});

test.for([
  ['53300', 'sorry, too many clients already', 'Postgres accepts no further connection', 'max_connections'],
  [
    '53300',
    'too many connections for role "catalogue_worker"',
    'Postgres accepts no further connection of this role',
    'raise max_connections and run catalogue migrate',
  ],
  [
    '53300',
    'too many connections for database "catalogue"',
    'Postgres accepts no further connection to this database',
    'alter database … connection limit',
  ],
  [
    '28000',
    'no pg_hba.conf entry for host "10.0.0.7", user "catalogue_api", database "catalogue"',
    'Postgres refuses the role from this address',
    'pg_hba.conf',
  ],
  [
    '28000',
    'role "catalogue_api" is not permitted to log in',
    'Postgres has no role of this name that may log in',
    'alter role … login',
  ],
  [
    '55000',
    'database "catalogue" is not currently accepting connections',
    'the database accepts no connections',
    'allow_connections true',
  ],
  [
    '08P01',
    'unsupported startup parameter: bytea_output',
    'a pooler is in front of Postgres',
    'Connect to Postgres itself',
  ],
] as const)(
  'why Postgres accepts no connection is told apart by its message: %s %s',
  ([code, message, what, next]) => {
    const error = postgresError(code, message);
    expect(safeMessage(error)).toBe(`${what} (${code})`);
    expect(explainError(error)).toContain(next);
  },
);

test('an error whose code has words for another message alone has none', () => {
  expect(safeMessage(postgresError('08P01', 'invalid message format'))).not.toContain('pooler');
});

test.for([
  [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    /^Failed because the certificate .* is of no authority .* NODE_EXTRA_CA_CERTS\.$/,
  ],
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    /^Failed because the certificate of the server does not name the host of the URL /,
  ],
  ['CERT_HAS_EXPIRED', /^Failed because the certificate of the server is not valid now .* clocks\.$/],
  ['ECONNRESET', /and that the servers run, with TLS where a URL requires it\.$/],
] as const)('a TLS connection that fails with %s: a command says what to do', ([code, sentence]) => {
  expect(explainError(Object.assign(new Error(code), { code }))).toMatch(sentence);
});
