import { beforeAll, beforeEach, expect, it } from 'vitest';
import { listAudit, operatorActor } from '#db/queries/audit.ts';
import { verifyAudit } from '#db/verify-audit.ts';
import { FOUR_EYES_KINDS, type FourEyes } from '#src/contract/approvals.ts';
import { recordRefusedSignIn } from '#src/identity/refusals.ts';
import { refreshOpenRequests } from '#src/operations/approvals.ts';
import { approve, cancelRequest, declineRequest } from '#src/operations/requests.ts';
import { readNeed } from '#src/operations/second-person.ts';
import { actionsOn, addOperators, answerBy, askBy, passMinutes } from '#test/support/approvals.ts';
import { untilBlocked } from '#test/support/blocked.ts';
import { TESTS } from '#test/support/console.ts';
import { addApplication } from '#test/support/factories.ts';
import { PLANTED, ringOf, store } from '#test/support/kyc.ts';
import { acceptCpId, eraseKyc, revealKyc, setRoles, switchOperator } from '#test/support/operate.ts';
import { useTestProducer } from '#test/support/queue.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const producer = useTestProducer(database);
const keys = ringOf(['k1']);
const fourEyes: FourEyes = { kinds: FOUR_EYES_KINDS, onceTwo: true };
let next = 0;
let application_id: string;
let subject: string;

beforeAll(() =>
  addOperators(database.sql, {
    kim: ['kyc_officer'],
    lee: ['kyc_officer'],
    olga: ['kyc_officer', 'admin'],
    ada: ['admin'],
  }),
);
beforeEach(async () => {
  next += 1;
  application_id = `app-${next}`;
  subject = `application:${application_id}`;
  await addApplication(database.sql, application_id, {}, keys);
  await store(database.sql, keys, application_id, PLANTED);
});

const by = (login: string) => ({ ...operatorActor(login), reason: 'ticket 4711' });
const ask = async (login = 'kim', kind: 'reveal' | 'erase' | 'cp-id' = 'reveal') =>
  (await askBy(database.sql, login, { kind, subject, reason: 'ticket 4711' })).approval_id;
const approveBy = (login: string, approval_id: string) => answerBy(database.sql, login, approve, approval_id);
const reveal = (login: string, approval_id?: string) =>
  revealKyc(database.sql, keys, application_id, by(login), { fourEyes, approval_id });
const open = () => refreshOpenRequests(database.sql, FOUR_EYES_KINDS, subject);

it('one asks, another approves, the first reveals once; the log has each step before what it allows', async () => {
  await expect(reveal('kim')).rejects.toThrow('It takes two persons to reveal a KYC record');
  const id = await ask();
  await expect(reveal('kim', id)).rejects.toThrow('This is not approved yet');
  await approveBy('lee', id);
  await expect(reveal('lee', id)).rejects.toThrow('only kim can use the approval');
  expect((await reveal('kim', id)).record?.tax_id).toBe(PLANTED.tax_id);
  await expect(reveal('kim', id)).rejects.toThrow('This approval was used at');
  expect(await actionsOn(database.sql, subject)).toEqual([
    'kim approval.refuse',
    'kim approval.request',
    'kim approval.refuse',
    'lee approval.approve',
    'lee approval.refuse',
    'kim approval.use',
    'kim kyc.reveal',
    'kim approval.refuse',
  ]);
  const [entry] = await listAudit(database.sql, { subject, action: 'kyc.reveal', limit: 1 });
  expect(entry?.details).toMatchObject({ approval_id: id, second_person: 'lee' });
  expect((await verifyAudit(database.sql)).broken).toBeNull();
});

it('of twenty concurrent uses one counts', async () => {
  const id = await ask();
  await approveBy('lee', id);
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => reveal('kim', id)));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await listAudit(database.sql, { subject, action: 'kyc.reveal', limit: 9 })).toHaveLength(1);
});

it('operators cannot approve their own requests, not even administrators, and the role alone counts', async () => {
  const own = await ask('olga');
  await expect(approveBy('olga', own)).rejects.toThrow(
    'another operator must approve it, even if you are an administrator',
  );
  const id = await ask('kim');
  await expect(approveBy('ada', id)).rejects.toThrow('this takes the role kyc officer');
  // By any writer to the table.
  const { sql } = database;
  const forged = sql`
    update approvals set approved_by = requested_by, approved_at = now() where approval_id = ${own}`;
  await expect(forged).rejects.toThrow('approvals_two_persons');
  await expect(reveal('olga', own)).rejects.toThrow('This is not approved yet');
});

it('an approval after an hour and a use after fifteen minutes are refused, by the database too', async () => {
  const { sql } = database;
  const late = await ask();
  await passMinutes(sql, late, 61);
  await expect(approveBy('lee', late)).rejects.toThrow('it was not approved within 60 minutes');
  await expect(
    sql`update approvals set approved_by = 'lee', approved_at = now() where approval_id = ${late}`,
  ).rejects.toThrow('approvals_in_time');
  await expect(answerBy(sql, 'kim', cancelRequest, late)).rejects.toThrow('This request has expired');
  await expect(reveal('kim', late)).rejects.toThrow('another operator approves it within 60 minutes');
  // It is in no list, and can be requested again.
  expect(await open()).toEqual([]);
  const id = await ask();
  await approveBy('lee', id);
  await passMinutes(sql, id, 16);
  await expect(reveal('kim', id)).rejects.toThrow('This approval has expired');
  await expect(approveBy('olga', id)).rejects.toThrow('it was approved, but not used within 15 minutes');
  await expect(sql`update approvals set used_at = now() where approval_id = ${id}`).rejects.toThrow(
    'approvals_used_in_time',
  );
});

it('an approver who approves again, and one who declines what is used at that moment, read what happened', async () => {
  const { sql } = database;
  const id = await ask();
  await approveBy('lee', id);
  await expect(approveBy('lee', id)).rejects.toThrow('This request is approved already.');
  let declined: Promise<unknown> | undefined;
  await sql.begin(async (tx) => {
    await tx`update approvals set used_at = now() where approval_id = ${id}`;
    declined = answerBy(sql, 'olga', declineRequest, id);
    declined.catch(() => {});
    await untilBlocked(sql);
  });
  await expect(declined).rejects.toThrow('This request was used already.');
});

it('what changed between the two is void: before the approval and after it', async () => {
  const { sql } = database;
  const before = await ask();
  await store(sql, keys, application_id, { ...PLANTED, cp_name: 'Another name' });
  await expect(approveBy('lee', before)).rejects.toThrow('changed since: the request is void');
  expect(await actionsOn(sql, subject)).toContain('catalogue approval.void');
  const after = await ask();
  await approveBy('lee', after);
  await store(sql, keys, application_id, { ...PLANTED, cp_name: 'A third name' });
  await expect(reveal('kim', after)).rejects.toThrow(
    'What was approved has changed since, so the approval is void',
  );
  await expect(revealKyc(sql, keys, 'app-1', by('kim'), { fourEyes, approval_id: after })).rejects.toThrow(
    'is no approval to reveal a KYC record of application:app-1',
  );
  expect(await open()).toEqual([]);
  await expect(
    askBy(sql, 'kim', { kind: 'reveal', subject, reason: 'x', seen: 'an older version' }),
  ).rejects.toThrow('has changed since the page was shown');
});

it('a cancelled and a declined request end, leave a trace, and what they were about can be requested again', async () => {
  const { sql } = database;
  const cancelled = await ask();
  await expect(ask()).rejects.toThrow('You have requested this already');
  await answerBy(sql, 'kim', cancelRequest, cancelled);
  await expect(approveBy('lee', cancelled)).rejects.toThrow('This request was cancelled');
  const declined = await ask();
  await approveBy('lee', declined);
  await answerBy(sql, 'olga', declineRequest, declined);
  await expect(reveal('kim', declined)).rejects.toThrow('This request was declined');
  expect(await open()).toEqual([]);
  expect(await actionsOn(sql, subject)).toEqual(
    expect.arrayContaining(['kim approval.cancel', 'olga approval.decline']),
  );
  await ask();
  expect(await open()).toHaveLength(1);
});

it('a person who is disabled or lost the role meanwhile is no second person, and asks for nothing', async () => {
  const { sql } = database;
  await addOperators(sql, { mia: ['kyc_officer'], noa: ['kyc_officer'] });
  const id = await ask('kim');
  await approveBy('mia', id);
  await switchOperator(sql, TESTS, 'mia', 'disabled');
  await expect(reveal('kim', id)).rejects.toThrow('is disabled, or has lost the role');
  const other = await ask('noa');
  await approveBy('lee', other);
  await setRoles(sql, TESTS, 'noa', ['viewer']);
  await expect(reveal('noa', other)).rejects.toThrow('is disabled, or has lost the role');
});

it('erase and accept-cp-id follow the rule', async () => {
  const { sql } = database;
  await store(sql, keys, application_id, { ...PLANTED, cp_id: 'cp-other' });
  const accept = (approval_id?: string) =>
    acceptCpId({ sql, producer }, application_id, by('kim'), 'cp-other', { fourEyes, approval_id });
  await expect(accept()).rejects.toThrow('It takes two persons to accept a new cp_id');
  const cpId = await ask('kim', 'cp-id');
  await approveBy('lee', cpId);
  expect(await accept(cpId)).toMatchObject({ application_cp_id: 'cp-other' });

  const erase = (approval_id?: string) => eraseKyc(sql, application_id, by('kim'), { fourEyes, approval_id });
  await expect(erase()).rejects.toThrow('It takes two persons to erase a KYC record');
  const id = await ask('kim', 'erase');
  await approveBy('lee', id);
  await expect(reveal('kim', id)).rejects.toThrow('is no approval to reveal');
  expect(await erase(id)).toBe(1);
  expect((await actionsOn(sql, subject)).slice(-2)).toEqual(['kim approval.use', 'kim kyc.erase']);
});

it('an erasure that was approved before the first record does not erase the record that came meanwhile', async () => {
  const { sql } = database;
  await sql`delete from kyc_records where application_id = ${application_id}`;
  const id = await ask('kim', 'erase');
  await approveBy('lee', id);
  await store(sql, keys, application_id, { ...PLANTED, cp_name: 'Another name' });
  await expect(eraseKyc(sql, application_id, by('kim'), { fourEyes, approval_id: id })).rejects.toThrow(
    'so the approval is void',
  );
});

it('begins once two operators could, does not end when one is disabled, and leaves a trace where it is off', async () => {
  const { sql } = database;
  expect(await readNeed(sql, fourEyes, 'withdrawals')).toBe('alone');
  await addOperators(sql, { rita: ['reviewer'], hana: ['admin'] });
  expect(await readNeed(sql, fourEyes, 'withdrawals')).toBe('needed');
  await switchOperator(sql, TESTS, 'rita', 'disabled');
  expect(await readNeed(sql, fourEyes, 'withdrawals')).toBe('needed');
  expect(await readNeed(sql, { kinds: ['reveal'], onceTwo: false }, 'withdrawals')).toBe('off');
  const none = { kinds: [], onceTwo: false };
  await revealKyc(sql, keys, application_id, by('kim'), { fourEyes: none });
  const [entry] = await listAudit(sql, { subject, limit: 1 });
  expect(entry).toMatchObject({ action: 'kyc.reveal', details: { second_person: 'none: FOUR_EYES' } });
});

it('wrong passwords of a stranger do not hide what the officer tried', async () => {
  for (let n = 0; n < 40; n += 1)
    await recordRefusedSignIn(database.sql, 'lee', 'wrong password', '192.0.2.1');
  await expect(reveal('lee')).rejects.toThrow('It takes two persons');
  const [entry] = await listAudit(database.sql, { actor: 'lee', limit: 1 });
  expect(entry).toMatchObject({ action: 'approval.refuse', subject });
});

it('an officer who tries alone without end writes few entries, and the log has their number', async () => {
  for (let n = 0; n < 130; n += 1) await expect(reveal('olga')).rejects.toThrow('It takes two persons');
  const entries = await listAudit(database.sql, { actor: 'olga', action: 'approval.refuse', limit: 200 });
  expect(entries.length).toBeLessThan(40);
  expect(entries[0]?.details).toMatchObject({ refusals: 120 });
});
