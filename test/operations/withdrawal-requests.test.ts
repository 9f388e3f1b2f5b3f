import { expect, test } from 'vitest';
import { GAMES, useSuspectRuns } from '#test/operations/suspect-runs.ts';
import { actionsOn } from '#test/support/approvals.ts';

const { database, suspect, get, post, ask, openId, act, withdrawn, queues } = useSuspectRuns();

test('one reviewer asks, another approves, the first withdraws the games once', async () => {
  const { run_id } = suspect;
  expect(await queues()).toEqual({ first: true, second: false });
  expect(await ask('rita', { act: 'all', reason: ' ' })).toContain('reason is empty');
  expect(await ask('rita')).toContain('Requested.');
  expect(await queues()).toEqual({ first: false, second: true });
  expect(await get('rita', `/runs/${run_id}`)).toContain('You cannot approve your own request');
  expect(await act('rita', 'use')).toContain('This is not approved yet');
  expect(await act('rita', 'approve')).toContain('You requested this yourself');
  expect(await act('ada', 'approve')).toContain('403');
  expect(await act('hana', 'approve')).toContain('rita has 15 minutes to do it, once');
  expect(await act('hana', 'use')).toContain('only rita can use the approval');
  expect(await withdrawn()).toBe(0);
  expect(await act('rita', 'use')).toBe(`Games withdrawn: ${GAMES}.`);
  expect(await act('rita', 'use')).toContain('This approval was used');
  expect(await withdrawn()).toBe(GAMES);
  expect((await actionsOn(database.sql, `run:${run_id}`)).filter((each) => !each.includes('refuse'))).toEqual(
    ['rita approval.request', 'hana approval.approve', 'rita approval.use', 'rita run.accept_withdrawals'],
  );
});

test('an administrator asks too, a cancelled or a declined request can be made again', async () => {
  const { run_id } = suspect;
  await ask('ada');
  expect(await act('ada', 'cancel')).toContain('The request has ended');
  expect(await queues()).toEqual({ first: true, second: false });
  expect(await get('hana', `/runs/${run_id}`)).toContain('Request to withdraw all of them');
  await ask('ada');
  expect(await get('hana', `/runs/${run_id}`)).not.toContain('Request to withdraw all of them');
  await act('hana', 'decline');
  expect(await queues()).toEqual({ first: true, second: false });
});

test('an administrator, who may not approve, cancels the own request and declines none of another', async () => {
  const { run_id } = suspect;
  await ask('rita');
  expect(await act('ada', 'cancel')).toContain('only rita can cancel it');
  const refused = await act('ada', 'decline');
  expect(refused).toContain('403');
  expect(refused).toContain('This takes the role reviewer');
  expect(await queues()).toEqual({ first: false, second: true });
  expect(await actionsOn(database.sql, `run:${run_id}`)).toContain('ada approval.refuse');
  expect(await act('hana', 'decline')).toContain('The request has ended');
});

test('the id of a run in capitals is the same run: the request is found, and one open request is enough', async () => {
  const { run_id } = suspect;
  await ask('rita');
  const path = `/runs/${run_id.toUpperCase()}`;
  const again = await ask('rita', { subject: `run:${run_id.toUpperCase()}` });
  expect(again).toContain('You have requested this already');
  expect(await get('hana', path)).toContain(`/requests/withdrawals/${await openId()}/approve`);
  await act('rita', 'cancel');
});

test('the console neither takes nor approves requests of the KYC desk', async () => {
  const { application_id } = suspect;
  const { sql } = database;
  const kyc = { kind: 'erase', subject: `application:${application_id}`, reason: 'x' };
  expect(await post('rita', '/requests', kyc)).toMatch(/^400 /);
  const [row] = await sql<{ approval_id: string }[]>`
    insert into approvals (approval_id, kind, subject, version, reason, requested_by, expires_at)
    values (gen_random_uuid(), 'erase', ${kyc.subject}, '1', 'x', 'rita', now() + interval '1 hour') returning approval_id`;
  const id = row?.approval_id ?? '';
  for (const action of ['approve', 'decline', 'cancel']) {
    expect(await post('hana', `/requests/withdrawals/${id}/${action}`)).toContain(
      `There is no approval "${id}"`,
    );
    expect(await post('hana', `/requests/erase/${id}/${action}`)).toMatch(/^400 /);
  }
  expect(await sql`select approved_at, closed_at from approvals where approval_id = ${id}`).toEqual([
    { approved_at: null, closed_at: null },
  ]);
});
