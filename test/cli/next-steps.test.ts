import { expect, it } from 'vitest';
import { documentOf, runCli } from '#test/support/cli.ts';
import { addApplication, anOpenRun } from '#test/support/factories.ts';
import { asOperator, urlOfRole } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const ABSENT = '019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b';

const otherUrl = (change: (url: URL) => void): string => {
  const url = new URL(database.databaseUrl);
  change(url);
  return url.href;
};

it.for<[args: string, exit: number, says: string[]]>([
  ['game undo 12x --by kim', 2, ['the number of a decision, or the whole id of a batch']],
  ['game undo 987654321 --by kim', 2, ['There is no decision "987654321".', 'npx catalogue game show']],
  [`game undo ${ABSENT} --by kim`, 2, [`There is no decision "${ABSENT}".`, 'npx catalogue game show']],
  ['reason retire nope --by kim', 2, ['"nope". List them: npx catalogue reason list']],
  [`run accept ${ABSENT} --by kim`, 2, [`There is no run "${ABSENT}". List them: npx catalogue run list`]],
])('an unknown id is refused with the command that lists them: %j', async ([args, exit, says]) => {
  const result = await runCli(args.split(' '), asOperator(database.databaseUrl));
  expect(result.exit).toBe(exit);
  for (const each of says) expect(result.stderr).toContain(each);
});

it('a run that is not suspect is not accepted, and the message says what it is', async () => {
  await addApplication(database.sql, 'acme');
  const { run_id } = await anOpenRun(database.sql);
  const { exit, stderr } = await runCli(
    ['run', 'accept', run_id, '--by', 'kim'],
    asOperator(database.databaseUrl),
  );
  expect(exit).toBe(2);
  expect(stderr).toContain(`The run ${run_id} is open, not suspect`);
});

it.for<[what: string, url: () => string, says: string[]]>([
  [
    'another process',
    () => urlOfRole(database.databaseUrl, 'media'),
    ['permission denied', 'DATABASE_URL_OPERATOR'],
  ],
  [
    'a database that is missing',
    () => otherUrl((url) => (url.pathname = '/nodb')),
    ['"nodb" does not exist (3D000). Create it with createdb', 'DATABASE_URL'],
  ],
  [
    'an unknown host',
    () => otherUrl((url) => (url.hostname = 'database.invalid')),
    ['The server at database.invalid is unreachable', 'check DATABASE_URL'],
  ],
])('a command with the URL of %s says what to check, without the password', async ([, url, says]) => {
  const result = await runCli(['app', 'list', '--json'], { DATABASE_URL: url() });
  expect(result.exit).toBe(1);
  for (const each of says) expect(documentOf(result).error).toContain(each);
  expect(result.stdout + result.stderr).not.toContain(new URL(url()).password);
});
