import { beforeAll, expect, test } from 'vitest';
import { addTestOperator, signIn } from '#test/support/console.ts';
import { addApplication } from '#test/support/factories.ts';
import { type Fields, findServerErrors, hostileRequests, listRoutes } from '#test/support/hostile-input.ts';
import { PLANTED, store } from '#test/support/kyc.ts';
import { DESK_KEYS, useTestDesk } from '#test/support/kyc-desk.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const desk = useTestDesk(database);
beforeAll(async () => {
  await addApplication(database.sql, 'acme', {}, DESK_KEYS);
  await store(database.sql, DESK_KEYS, 'acme', PLANTED);
  await addTestOperator(database.sql, 'kim', 'kyc_officer');
  await addTestOperator(database.sql, 'lee', 'kyc_officer');
});

/** The routes of every site are in the test of the console. */
const OWN = /^\/(developers|requests|reveals|$)/;
const ID = '019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b';
const QUERIES: Fields = {
  '/': {
    q: 'x',
    status: 'sealed',
    'new-cp-id': '1',
    sort: '-received_at',
    cursor: '-received_at,acme,2026-01-01',
  },
  '/requests': { kind: 'reveal', sort: 'requested_at', cursor: `requested_at,${ID},2026-01-01` },
  '/reveals': { application: 'acme', actor: 'kim', since: '24h', until: '1h', cursor: '-entry_id,9' },
};
const ACTION = { approval: '', reason: 'why', password: 'x', cp_id: 'x' };
const FORMS: Fields = {
  '/requests': {
    kind: 'reveal',
    subject: 'application:acme',
    seen: 'x',
    reason: 'why',
    act: 'all',
    game: '',
  },
  '/developers/:application_id/reveal': ACTION,
  '/developers/:application_id/erase': ACTION,
  '/developers/:application_id/accept-cp-id': ACTION,
};

test('no input of a KYC officer is answered by a server error', async () => {
  const routes = listRoutes(desk.app).filter(({ path }) => OWN.test(path));
  expect(routes.map(({ path }) => path)).toEqual(
    expect.arrayContaining([...Object.keys(QUERIES), ...Object.keys(FORMS)]),
  );
  const known = { ':application_id': 'acme' };
  const sent = hostileRequests(routes, known, { queries: QUERIES, forms: FORMS }, true);
  const cookie = await signIn(desk.url, 'kim');
  expect(await findServerErrors(desk.url, cookie, sent)).toEqual([]);
});
