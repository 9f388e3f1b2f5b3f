// What the lists say before anything is there, and when nothing matches.
import { beforeAll, expect, test } from 'vitest';
import { addTestOperator, signIn, useTestConsole } from '#test/support/console.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const served = useTestConsole(database);
let cookie: string;

beforeAll(async () => {
  await addTestOperator(database.sql, 'olga', 'viewer');
  cookie = await signIn(served.url, 'olga');
});

test.each([
  ['/games', 'No game is stored yet', '?q=x', 'No game matches'],
  ['/runs', 'No application has run yet', '?outcome=failed', 'No run matches'],
  ['/applications', 'There is no application yet', '?status=paused', 'No application matches'],
])(
  '%s without filters says that nothing is there yet, and with a filter that nothing matches',
  async (path, none, filter, unmatched) => {
    const get = async (query: string) =>
      (await fetch(new URL(path + query, served.url), { headers: { cookie } })).text();
    const first = await get('');
    expect(first).toContain(none);
    expect(first).not.toContain(unmatched);
    expect(await get(filter)).toContain(unmatched);
  },
);

test('the overview says how the first application is added', async () => {
  const overview = await (await fetch(served.url, { headers: { cookie } })).text();
  const parts = ['<h2>Add the first application</h2>', 'npx catalogue app add', 'class="stats"'];
  const places = parts.map((each) => overview.indexOf(each));
  expect(places).not.toContain(-1);
  expect(places, 'it comes first').toEqual(places.toSorted((one, other) => one - other));
  expect(overview).toContain('Nothing was read yet.');
  expect(overview).not.toContain('Every listed game was stored');
  expect(overview).not.toContain('No application is in trouble');
});

test('charts without a bar say so, and name no highest one', async () => {
  const overview = await (await fetch(served.url, { headers: { cookie } })).text();
  expect(overview).toContain('<span>New games an hour: none</span>');
  expect(overview).not.toContain('at most');
});
