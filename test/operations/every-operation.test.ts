import { globSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { upsertGames } from '#db/queries/games.ts';
import { closeRun } from '#db/queries/runs.ts';
import { APPROVAL_KINDS, type ApprovalKind } from '#src/contract/approvals.ts';
import { AUDIT_SUBJECTS, type OperationName } from '#src/contract/audit.ts';
import { hasRight, ROLES, type Role } from '#src/contract/roles.ts';
import { operations } from '#src/operations/index.ts';
import { operate } from '#src/operations/operate.ts';
import { type AnyOperation, type Caller, ForbiddenError } from '#src/operations/operation.ts';
import { ApprovalError } from '#src/operations/second-person.ts';
import { addApplication, PLANTED, ringOf, store } from '#test/kyc/support.ts';
import { addOperators } from '#test/operations/support.ts';
import { anOpenRun, fetchedGame } from '#test/support/factories.ts';
import { KIM, operatorCaller, testPlatform } from '#test/support/operate.ts';
import { everyRow, useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const keys = ringOf(['k1']);
const ID = '019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b';
const acme = { application_id: 'acme' };
const reason = 'why';
const webhooks = {
  query_game_list_webhook: 'https://acme.example/list',
  query_game_detail_webhook: 'https://acme.example/detail',
  query_cp_kyc_webhook: 'https://acme.example/kyc',
};
const request = { approval_id: ID, kind: 'withdrawals' };
const decision = { games: [{ game_id: ID, revision: 1 }] };
let suspect: string;

/** An input of each operation that passes its form. */
const inputs = (): Record<OperationName & string, object | undefined> => ({
  'application.add': { application_id: 'new', name: 'New', access_token: 'token', ...webhooks },
  'application.update': { ...acme, name: 'Changed' },
  'application.pause': acme,
  'application.resume': acme,
  'application.resume_failing': {},
  'application.remove': acme,
  'application.check': acme,
  'application.pause_failing': { ...acme, reason },
  'application.resume_recovered': acme,
  'event_webhook.off': { ...acme, url: 'https://acme.example/events', reason },
  'event_secret.rotate': acme,
  'event.retry': acme,
  'run.start': acme,
  'run.start_accepting': acme,
  'run.cancel': { run_id: ID },
  'run.accept_withdrawals': { run_id: suspect },
  'game.pull': { ...acme, application_game_ids: ['g-1'] },
  'game.pass': decision,
  'game.reject': { ...decision, reason: 'incomplete' },
  'game.undo': { audit_ids: [1] },
  'game.package': { urls: [{ game_id: ID, game_package_url: '' }] },
  'game.reopen': { picture_id: ID, game_ids: [ID] },
  'failure.retry': acme,
  'reason.add': { code: 'gambling', label: 'Games of chance' },
  'reason.retire': { code: 'incomplete' },
  'queue.pause': {},
  'queue.resume': {},
  'queue.retry_failed': {},
  'token.create': acme,
  'token.revoke': { token_id: ID },
  'kyc.pull': acme,
  'kyc.reveal': { ...acme, reason },
  'kyc.erase': { ...acme, reason },
  'kyc.accept_cp_id': { ...acme, reason, cp_id: 'cp-other' },
  'kyc.reseal': {},
  'kyc.expire': { keep_ms: 0, limit: 9 },
  'kyc.expire_removed': { ...acme, keep_ms: 0 },
  'approval.ask': { kind: 'withdrawals', subject: `run:${suspect}`, reason },
  'approval.approve': request,
  'approval.cancel': request,
  'approval.decline': request,
  'approval.void': request,
  'operator.add': { login: 'new', roles: ['viewer'] },
  'operator.link': { login: 'olga' },
  'operator.roles': { login: 'olga', roles: ['viewer'] },
  'operator.disable': { login: 'olga' },
  'operator.enable': { login: 'olga' },
  'operator.sign_out': { login: 'olga' },
  'operator.password': { current: 'x', password: 'y' },
  'session.end': { session_id: 'others' },
  // Entries of these actions are no operations: sign-ins, refusals, Bull Board, parts of others.
  ...{ 'event_webhook.set': undefined, 'event_webhook.remove': undefined, 'event_webhook.on': undefined },
  ...{ 'queue.action': undefined, 'approval.use': undefined, 'approval.refuse': undefined },
  ...{ 'session.sign_in': undefined, 'session.sign_out': undefined, 'session.refuse': undefined },
  'access.refuse': undefined,
});

/** An application with everything that takes two persons: a record, another cp_id, a suspect run. Two persons could. */
beforeAll(async () => {
  const { sql } = database;
  await addApplication(sql, 'acme', keys);
  await store(sql, keys, 'acme', PLANTED);
  await store(sql, keys, 'acme', { ...PLANTED, cp_id: 'cp-other' });
  const game = fetchedGame();
  await upsertGames(sql, 'acme', [game]);
  const run = await anOpenRun(sql, 'acme');
  await closeRun(sql, run, { outcome: 'suspect', reason: 'all games are gone' });
  suspect = run.run_id;
  await sql`insert into vanishing_games (run_id, game_id) values (${suspect}, ${game.game_id})`;
  await addOperators(sql, { olga: [...ROLES], lee: [...ROLES] });
});

const all = () => [...operations.values()];
const platform = () => testPlatform(database.sql, { keys: async () => keys });
const run = (operation: AnyOperation, caller: Caller) =>
  operate(operation, inputs()[operation.name] as never, caller, platform());

const mayDo = ({ right, name }: AnyOperation, role: Role): boolean => {
  if (right === 'system') return false;
  if (right === 'own') return true;
  return hasRight([role], typeof right === 'function' ? right(inputs()[name]) : right);
};

const application = (application_id: string): Caller => ({
  actor: { actor: application_id, actor_kind: 'application' },
  roles: [],
});
const withoutSession = (caller: Caller): Caller => ({ actor: caller.actor, roles: caller.roles });

it('names each operation that a file of the room defines, by a subject of the audit log', async () => {
  const room = join(import.meta.dirname, '../../src/operations');
  const defined: string[] = [];
  for (const file of globSync('*.ts', { cwd: room })) {
    const exported: object = await import(join(room, file));
    for (const value of Object.values(exported))
      if (typeof value === 'object' && value !== null && 'run' in value && 'title' in value)
        defined.push((value as AnyOperation).name);
  }
  expect(defined.toSorted()).toEqual([...operations.keys()].toSorted());
  for (const name of operations.keys())
    expect([
      ...AUDIT_SUBJECTS,
      'event',
      'event_webhook',
      'event_secret',
      'failure',
      'kyc',
      'approval',
      'session',
    ]).toContain(name.split('.')[0]);
});

it('refuses each caller who lacks the right, and writes nothing', async () => {
  const before = await everyRow(database.sql);
  const refused = new Set<string>();
  for (const operation of all()) {
    const callers: [who: string, caller: Caller][] = [
      ...ROLES.filter((role) => !mayDo(operation, role)).map(
        (role) => [role, operatorCaller('olga', role)] as [string, Caller],
      ),
      ['no role', operatorCaller('olga')],
      ['another application', application('other')],
      ...(operation.byApplication ? [] : [['its application', application('acme')] as [string, Caller]]),
      ...(operation.right === 'system' || operation.knownBy !== undefined
        ? [['command line', KIM] as [string, Caller]]
        : []),
      ...(operation.knownBy === 'session'
        ? [['a token', withoutSession(operatorCaller('olga', ...ROLES))] as [string, Caller]]
        : []),
    ];
    for (const [who, caller] of callers) {
      // Every operator may do these.
      if (who === 'no role' && operation.right === 'own') continue;
      await expect(run(operation, caller), `${operation.name} by ${who}`).rejects.toThrow(ForbiddenError);
      refused.add(operation.name);
    }
  }
  expect(refused.size).toBe(operations.size);
  expect(await everyRow(database.sql)).toEqual(before);
});

it('writes approval.refuse and nothing else where the second person is missing', async () => {
  const { sql } = database;
  const kinds: ApprovalKind[] = [];
  const twoPersons = all().filter(
    ({ secondPerson, name }) => secondPerson !== undefined || name === 'run.start_accepting',
  );
  for (const operation of twoPersons) {
    if (operation.secondPerson !== undefined) kinds.push(operation.secondPerson.kind);
    for (const approval_id of [undefined, ID]) {
      const { audit_log, audit_head, ...before } = await everyRow(sql);
      if (operation.name === 'run.start_accepting' && approval_id !== undefined) continue;
      const given = { ...inputs()[operation.name], approval_id };
      const refused = operate(operation, given as never, operatorCaller('olga', ...ROLES), platform());
      await expect(refused, operation.name).rejects.toThrow(ApprovalError);
      const { audit_log: log, audit_head: _head, ...after } = await everyRow(sql);
      expect(after).toEqual(before);
      expect(log).toHaveLength((audit_log?.length ?? 0) + 1);
      const [entry] = await listAudit(sql, { limit: 1 });
      expect(entry).toMatchObject({
        actor: 'olga',
        action: 'approval.refuse',
        details: approval_id ? { approval_id } : {},
      });
    }
  }
  expect(kinds.toSorted()).toEqual([...APPROVAL_KINDS].toSorted());
});
