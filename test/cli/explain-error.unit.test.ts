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

test('a password that is refused: the log says so in words, a command names the variable', () => {
  const error = postgresError('28P01', 'password authentication failed for user "catalogue_worker"');
  expect(safeMessage(error)).toBe('Postgres refuses the password of the role (28P01)');
  expect(explainError(error)).toContain('Check the user and the password of DATABASE_URL_OPERATOR');
});
