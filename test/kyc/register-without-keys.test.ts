import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { Database } from '#db/client.ts';
import { findApplication } from '#db/queries/applications.ts';
import { openAccessToken } from '#src/sealing/access-token.ts';
import { runCli } from '#test/support/cli.ts';
import { ACCESS_TOKEN } from '#test/support/factories.ts';
import { aHome, keyErrorOf, keysText, ringOf } from '#test/support/kyc.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
let sql: Database;

beforeAll(() => {
  sql = database.sql;
});

const URL_OPTIONS = ['game-list', 'game-detail', 'cp-kyc'].flatMap((name) => [
  `--query-${name}-webhook`,
  'https://203.0.113.9/',
]);

/** What the fleet's workers, which have ENCRYPTION_KEYS and another home, make of the token. */
const openElsewhere = async () => {
  const application = await findApplication(sql, 'acme');
  if (application === undefined) throw new Error('acme is not registered');
  return openAccessToken(ringOf(['k1'], 'home-bbbbbbbb'), application);
};

it('a token that no other machine of a fleet can open is registered with a warning that says so', async () => {
  const home = await aHome();
  await writeFile(join(home, 'token'), ACCESS_TOKEN);
  const without = { ...asOperator(database.databaseUrl), CATALOGUE_HOME: home };
  const env = { ...without, ENCRYPTION_KEYS: keysText('k1') };
  const token = ['--access-token-file', join(home, 'token')];
  const warning = new RegExp(
    `warning: ENCRYPTION_KEYS is not set here: .* only with the key in ${join(home, 'keys')}, .* can call acme\\.`,
  );

  const added = await runCli(['app', 'add', 'acme', '--name', 'Acme', ...URL_OPTIONS, ...token], without);
  expect(added.exit).toBe(0);
  expect(added.stderr).toMatch(warning);
  expect((await keyErrorOf(openElsewhere)).code).toBe('unknown_key');

  // Both ways out that it names.
  expect(await runCli(['kyc', 'reseal'], env)).toMatchObject({ exit: 0 });
  expect(await openElsewhere()).toBe(ACCESS_TOKEN);
  const again = await runCli(['app', 'update', 'acme', ...token], without);
  expect(again.exit).toBe(0);
  expect(again.stderr).toMatch(warning);
  expect((await keyErrorOf(openElsewhere)).code).toBe('unknown_key');
  expect(await runCli(['app', 'update', 'acme', ...token], env)).toMatchObject({ exit: 0, stderr: '' });
  expect(await openElsewhere()).toBe(ACCESS_TOKEN);

  // Nothing was sealed here: nothing to say.
  expect(await runCli(['app', 'update', 'acme', '--rate', '9'], without)).toMatchObject({
    exit: 0,
    stderr: '',
  });
});
