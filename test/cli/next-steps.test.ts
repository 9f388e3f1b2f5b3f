import { expect, it } from 'vitest';
import { documentOf, runCli } from '#test/support/cli.ts';
import { urlOfRole } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

const otherUrl = (change: (url: URL) => void): string => {
  const url = new URL(database.databaseUrl);
  change(url);
  return url.href;
};

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
