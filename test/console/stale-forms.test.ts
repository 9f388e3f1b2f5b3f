// Forms that were shown before another administrator changed what they change.
import { beforeAll, expect, test } from 'vitest';
import { findOpenAppeal, insertAppeal } from '#db/queries/appeals.ts';
import { findApplication } from '#db/queries/applications.ts';
import { upsertGames } from '#db/queries/games.ts';
import { findHold } from '#db/queries/holds.ts';
import { upholdRejection } from '#src/operations/appeals.ts';
import { holdApplication, releaseApplication } from '#src/operations/holds.ts';
import { addTestOperator, PASSWORD, signIn, useTestConsole } from '#test/support/console.ts';
import { addApplication, fetchedGame, KIM } from '#test/support/factories.ts';
import { fieldsOf } from '#test/support/form-fields.ts';
import { decideGames, operateAs } from '#test/support/operate.ts';
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

/** The fields of the form on a page that `mark` is in. */
const fieldsOn = async (path: string, mark: string, as = cookie): Promise<URLSearchParams> =>
  fieldsOf(await (await fetch(served.url + path, { headers: { cookie: as } })).text(), mark);
const send = async (path: string, body: URLSearchParams, as = cookie) => {
  const answer = await fetch(served.url + path, {
    method: 'POST',
    headers: { cookie: as },
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

test('the form that adds a reason does not replace the words of another one with its code', async () => {
  const wordsOf = () => database.sql`select label, text from reasons where code = 'other'`;
  const before = await wordsOf();
  const form = await fieldsOn('/reasons', 'pattern=');
  form.set('code', 'other');
  form.set('label', 'Games of chance');
  expect(await send('/reasons', form)).toContain('There is a reason other already');
  expect(await wordsOf()).toEqual(before);
  const edit = await fieldsOn('/reasons', 'value="edit"><input type="hidden" name="code" value="other"');
  edit.set('label', 'Another one');
  expect(await send('/reasons', edit)).toContain('other is in use.');
  expect(await wordsOf()).toMatchObject([{ label: 'Another one' }]);
});

test('of two administrators who edit one reason, the second is told', async () => {
  const edit = () => fieldsOn('/reasons', 'value="edit"><input type="hidden" name="code" value="rights"');
  const [first, second, third] = [await edit(), await edit(), await edit()];
  first.set('label', 'Rights are in doubt');
  expect(await send('/reasons', first)).toContain('rights is in use.');
  second.set('label', 'Whose is it?');
  expect(await send('/reasons', second)).toContain('rights was changed meanwhile: nothing was saved');
  const retire = new URLSearchParams({ act: 'retire', code: 'rights' });
  const again = await edit();
  expect(await send('/reasons', retire)).toContain('rights is retired.');
  for (const stale of [third, again])
    expect(await send('/reasons', stale)).toContain('rights was changed meanwhile');
  const wordsOf = () =>
    database.sql`select label, retired_at is null as used from reasons where code = 'rights'`;
  expect(await wordsOf()).toEqual([{ label: 'Rights are in doubt', used: false }]);
  expect(await send('/reasons', await edit())).toContain('rights is in use.');
  expect(await wordsOf()).toEqual([{ label: 'Rights are in doubt', used: true }]);
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

test('a release ends the hold that its page showed, not a newer one', async () => {
  const { sql } = database;
  const acme = { application_id: 'acme' };
  const release = '/applications/acme/release';
  const hold = (reason: string) => operateAs(sql, KIM, holdApplication, { ...acme, reason });
  const shown = () => fieldsOn('/applications/acme', `action="${release}"`);
  await hold('The rights are in doubt.');
  const form = await shown();
  await operateAs(sql, KIM, releaseApplication, acme);
  await hold('The police asked for it.');
  expect(await send(release, form)).toContain('is held anew by kim since the page was shown');
  expect(await findHold(sql, 'acme')).toMatchObject({ reason: 'The police asked for it.' });
  expect(await send(release, await shown())).toContain('acme is no longer held.');
});

test('an appeal is not decided by the form of the one before it', async () => {
  const { sql } = database;
  const RUI = { actor: 'rui', actor_kind: 'operator' } as const;
  await addTestOperator(sql, 'lee', 'reviewer');
  const lee = await signIn(served.url, 'lee');
  const game = fetchedGame({ game_id: 'g-1' });
  await upsertGames(sql, 'acme', [game]);
  const { game_id } = game;
  const appealAfter = async (by: typeof RUI | typeof KIM, reason: string) => {
    await decideGames(sql, [{ game_id, revision: 1 }], { audit_status: 'rejected', reason }, by);
    return (await insertAppeal(sql, { game_id, text: 'It is ours.' })).appeal_id;
  };
  const forms = () =>
    Promise.all(['uphold', 'overturn'].map((act) => fieldsOn(`/games/${game_id}`, `value="${act}"`, lee)));
  const sendAs = (form: URLSearchParams | undefined, act: string) =>
    send(
      `/games/${game_id}/appeal`,
      new URLSearchParams([...(form ?? []), ['act', act], ['text', 'No.']]),
      lee,
    );
  const first = await appealAfter(KIM, 'rights');
  const [uphold, overturn] = await forms();
  await operateAs(sql, RUI, upholdRejection, { game_id, text: 'No.' });
  const second = await appealAfter(RUI, 'misleading');
  for (const refused of [await sendAs(uphold, 'uphold'), await sendAs(overturn, 'overturn')])
    expect(refused).toContain(`The appeal ${first} is not open on the game`);
  expect(await findOpenAppeal(sql, game_id)).toMatchObject({ appeal_id: second });
  const [again] = await forms();
  expect(await sendAs(again, 'uphold')).toContain('The rejection is upheld.');
});
