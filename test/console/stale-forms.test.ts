// Forms that were shown before another administrator changed what they change.
import { beforeAll, expect, test } from 'vitest';
import { findApplication } from '#db/queries/applications.ts';
import { addTestOperator, PASSWORD, signIn, useTestConsole } from '#test/support/console.ts';
import { addApplication } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const served = useTestConsole(database);
let cookie: string;

beforeAll(async () => {
  await addTestOperator(database.sql, 'ada', 'admin');
  await addTestOperator(database.sql, 'vic', 'viewer', 'admin');
  cookie = await signIn(served.url, 'ada');
  await addApplication(database.sql, 'acme');
});

/** The fields of the form on a page that `mark` is in, as a browser sends them. */
const fieldsOn = async (path: string, mark: string): Promise<URLSearchParams> => {
  const page = await (await fetch(served.url + path, { headers: { cookie } })).text();
  const form = page.split('<form ').find((each) => each.includes(mark)) ?? '';
  const fields = new URLSearchParams();
  for (const [tag] of form.matchAll(/<(?:input|option)[^>]*>/g)) {
    const [, name] = / name="([^"]*)"/.exec(tag) ?? [];
    const [, value = ''] = / value="([^"]*)"/.exec(tag) ?? [];
    if (name !== undefined && (!tag.includes('checkbox') || / checked/.test(tag))) fields.append(name, value);
  }
  return fields;
};
const send = async (path: string, body: URLSearchParams) => {
  const answer = await fetch(served.url + path, {
    method: 'POST',
    headers: { cookie },
    body,
    redirect: 'manual',
  });
  return decodeURIComponent(answer.headers.getSetCookie().join());
};
const settings = '/applications/acme/settings';
const rowOf = () => findApplication(database.sql, 'acme');

test('a setting that another administrator changed meanwhile is not changed back', async () => {
  const form = await fieldsOn('/applications/acme', `action="${settings}"`);
  await database.sql`update applications set rate = 20 where application_id = 'acme'`;
  form.set('name', 'Acme of the north');
  expect(await send(settings, form)).toContain('Saved: Name Acme of the north.');
  expect(await rowOf()).toMatchObject({ name: 'Acme of the north', rate: 20 });
  form.set('rate', '7');
  expect(await send(settings, form)).toContain('is 20 meanwhile');
  expect(await rowOf()).toMatchObject({ rate: 20 });
});

test('a role that was taken away meanwhile does not return', async () => {
  const form = await fieldsOn('/operators', 'name="login" value="vic"');
  expect(form.getAll('role')).toContain('admin');
  await database.sql`update operators set roles = '{viewer}' where login = 'vic'`;
  form.append('role', 'kyc_officer');
  form.set('password', PASSWORD);
  form.set('act', 'roles');
  expect(await send('/operators', form)).toContain('were changed meanwhile');
  const [vic] = await database.sql`select roles from operators where login = 'vic'`;
  expect(vic?.roles).toEqual(['viewer']);
});
