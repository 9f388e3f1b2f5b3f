// Forms of the desk that were shown before the record, its verdict or its cp_id changed.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findKycRecord, findKycState } from '#db/queries/kyc.ts';
import { findLastVerdict } from '#db/queries/verdicts.ts';
import { addTestOperator, signIn } from '#test/support/console.ts';
import { addApplication } from '#test/support/factories.ts';
import { fieldsOf } from '#test/support/form-fields.ts';
import { PLANTED, store } from '#test/support/kyc.ts';
import { DESK_KEYS, startTestDesk, type TestDesk } from '#test/support/kyc-desk.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
/** At one desk an act takes two officers, at the other one. */
let two: TestDesk;
let one: TestDesk;
const cookies: Record<string, string> = {};

beforeAll(async () => {
  for (const login of ['kim', 'lee']) await addTestOperator(database.sql, login, 'kyc_officer');
  [two, one] = await Promise.all([
    startTestDesk(database),
    startTestDesk(database, { fourEyes: { kinds: [], onceTwo: false } }),
  ]);
  for (const login of ['kim', 'lee']) cookies[login] = await signIn(two.url, login);
});
afterAll(() => Promise.all([two?.stop(), one?.stop()]));

/** An application with this record. */
const addWith = async (id: string, record: object | null): Promise<void> => {
  await addApplication(database.sql, id, {}, DESK_KEYS);
  if (record !== null) await pull(id, record);
};
const pull = (id: string, record: object) => store(database.sql, DESK_KEYS, id, { ...PLANTED, ...record });

const show = async (id: string, by = 'kim', desk = one): Promise<string> =>
  (await fetch(`${desk.url}/developers/${id}`, { headers: { cookie: cookies[by] ?? '' } })).text();
const send = async (path: string, body: URLSearchParams, by = 'kim', desk = one): Promise<string> => {
  const answer = await fetch(desk.url + path, {
    method: 'POST',
    headers: { cookie: cookies[by] ?? '' },
    body,
    redirect: 'manual',
  });
  return `${answer.status} ${decodeURIComponent(answer.headers.getSetCookie().join())}`;
};
const withReason = (form: URLSearchParams): URLSearchParams => {
  form.set('reason', 'ticket 4711');
  return form;
};

test('a form erases the version that its page showed, not a later one', async () => {
  await addWith('acme', {});
  const erase = '/developers/acme/erase';
  const form = withReason(fieldsOf(await show('acme'), erase));
  await pull('acme', { tax_id: 'another' });
  expect(await send(erase, form)).toContain('The KYC record of acme has changed since it was shown');
  expect(await findKycRecord(database.sql, 'acme')).toBeDefined();
  expect(await send(erase, withReason(fieldsOf(await show('acme'), erase)))).toContain('Erased: 2 versions.');
});

test('a form replaces the verdict that its page showed, not that of a colleague', async () => {
  await addWith('judged', {});
  const path = '/developers/judged/verdict';
  const give = (form: URLSearchParams, verdict: string, by?: string) => {
    form.set('verdict', verdict);
    return send(path, withReason(form), by);
  };
  const shown = async (by?: string) => fieldsOf(await show('judged', by), path);
  const [first, stale] = [await shown('lee'), await shown()];
  expect(await give(first, 'refused', 'lee')).toContain('judged: refused.');
  const refused = 'Another verdict on judged was given since it was shown';
  expect(await give(stale, 'verified')).toContain(refused);
  const late = await shown();
  expect(await give(await shown('lee'), 'incomplete', 'lee')).toContain('judged: incomplete.');
  expect(await give(late, 'verified')).toContain(refused);
  expect(await findLastVerdict(database.sql, 'judged')).toMatchObject({
    verdict: 'incomplete',
    decided_by: 'lee',
    state: 'standing',
  });
  expect(await give(await shown(), 'verified')).toContain('judged: verified.');
});

test('a form without a verdict gives none', async () => {
  await addWith('unjudged', {});
  const path = '/developers/unjudged/verdict';
  const form = withReason(fieldsOf(await show('unjudged'), path));
  form.delete('verdict');
  expect(await send(path, form)).toContain('Choose a verdict.');
  expect(await findLastVerdict(database.sql, 'unjudged')).toBeUndefined();
});

test('two officers erase before a first record; once it is erased, nothing is offered', async () => {
  await addWith('empty', null);
  const form = withReason(fieldsOf(await show('empty', 'kim', two), 'value="erase"'));
  expect(form.get('subject')).toBe('application:empty');
  expect(await send('/requests', form, 'kim', two)).toContain('Requested.');
  const [, approve = ''] =
    /action="(\/requests\/erase\/[^"]*\/approve)"/.exec(await show('empty', 'lee', two)) ?? [];
  expect(await send(approve, new URLSearchParams(), 'lee', two)).toContain('Approved.');
  const erase = '/developers/empty/erase';
  expect(await send(erase, fieldsOf(await show('empty', 'kim', two), erase), 'kim', two)).toContain(
    'Erased: 0 versions.',
  );
  expect(await findKycState(database.sql, 'empty')).toMatchObject({ state: 'erased' });
  expect(await show('empty', 'kim', two)).not.toContain('value="erase"');
});
