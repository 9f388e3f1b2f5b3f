import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { insertOidcFlow } from '#db/queries/sign-in.ts';
import { createLink } from '#src/identity/links.ts';
import { hashSecret } from '#src/identity/secrets.ts';
import { arrive } from '#test/portal/developer.ts';
import { addTestOperator, signIn, useTestConsole } from '#test/support/console.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const served = useTestConsole(database);

test('what docs/operate.md runs in a restored database ends each session, link and flow of the backup', async () => {
  const { sql } = database;
  await addTestOperator(sql, 'olga', 'reviewer');
  const cookie = await signIn(served.url, 'olga');
  const developer = await arrive(sql, served.url, 'acme');
  await createLink(sql, 'olga', true);
  const flow = { state: 'a state', nonce: 'a nonce', code_verifier: 'a verifier', next: '/' };
  await insertOidcFlow(sql, hashSecret('a flow'), 'console', flow, 60_000);

  const page = await readFile('docs/operate.md', 'utf8');
  const [, statement = ''] = /^pg_restore .*\npsql .*catalogue_restored" --command '(.*)'$/m.exec(page) ?? [];
  await sql.unsafe(statement);
  const open = await fetch(served.url, { headers: { cookie }, redirect: 'manual' });
  expect([open.status, (await developer.call('/portal')).status]).toEqual([303, 303]);
  // Each secret of a browser is stored as its hash.
  const kept = await sql<{ name: string }[]>`
    select table_name as name from information_schema.columns
    where column_name in ('session_hash', 'link_hash', 'flow_hash') and table_schema = 'public' order by 1`;
  expect(kept.length).toBeGreaterThan(3);
  for (const { name } of kept) expect(await sql`select from ${sql(name)}`, name).toHaveLength(0);
});
