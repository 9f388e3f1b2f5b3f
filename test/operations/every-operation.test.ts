import { globSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { upsertGames } from '#db/queries/games.ts';
import { closeRun } from '#db/queries/runs.ts';
import { APPROVAL_KINDS } from '#src/contract/approvals.ts';
import type { OperationName } from '#src/contract/audit.ts';
import { hasRight, ROLES, type Role } from '#src/contract/roles.ts';
import { operations } from '#src/operations/index.ts';
import { operate } from '#src/operations/operate.ts';
import { type AnyOperation, type Caller, ForbiddenError } from '#src/operations/operation.ts';
import { startAcceptingRun } from '#src/operations/runs.ts';
import { ApprovalError } from '#src/operations/second-person.ts';
import { addOperators } from '#test/support/approvals.ts';
import { addApplication, anOpenRun, fetchedGame } from '#test/support/factories.ts';
import { PLANTED, ringOf, store } from '#test/support/kyc.ts';
import { KIM, operatorCaller, testPlatform } from '#test/support/operate.ts';
import { everyRow } from '#test/support/stored.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

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
const inputs = (): Partial<Record<OperationName, object>> => ({
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
  'event.subscribe': { url: 'https://catalogue.example/events' },
  'event.unsubscribe': { subscription_id: ID },
  'event.resume': { subscription_id: ID },
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
  'picture.repair': { sha256: ['0'.repeat(64)] },
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
  'approval.request': { kind: 'withdrawals', subject: `run:${suspect}`, reason },
  'approval.approve': request,
  'approval.cancel': request,
  'approval.decline': request,
  'approval.void': request,
  'operator.add': { login: 'new', roles: ['kyc_officer'] },
  'operator.link': { login: 'olga' },
  'operator.roles': { login: 'vera', roles: ['kyc_officer'] },
  'operator.disable': { login: 'olga' },
  'operator.enable': { login: 'olga' },
  'operator.sign_out': { login: 'olga' },
  'operator.password': { current: 'x', password: 'y' },
  'session.end': { session_id: 'others' },
});

/** An application with everything that takes two persons: a record, another cp_id, a suspect run. Two persons could. */
beforeAll(async () => {
  const { sql } = database;
  await addApplication(sql, 'acme', {}, keys);
  await store(sql, keys, 'acme', PLANTED);
  await store(sql, keys, 'acme', { ...PLANTED, cp_id: 'cp-other' });
  const game = fetchedGame();
  await upsertGames(sql, 'acme', [game]);
  const run = await anOpenRun(sql, 'acme');
  await closeRun(sql, run, { outcome: 'suspect', reason: 'all games are gone' });
  suspect = run.run_id;
  await sql`insert into vanishing_games (run_id, game_id) values (${suspect}, ${game.game_id})`;
  await addOperators(sql, { olga: [...ROLES], lee: [...ROLES], vera: ['viewer'] });
});

const platform = () => testPlatform(database.sql, { keys: async () => keys });
const run = (operation: AnyOperation, caller: Caller, given: { approval_id?: string | undefined } = {}) =>
  operate(operation, { ...inputs()[operation.name], ...given } as never, caller, platform());

it('has each operation that a file of the room defines', async () => {
  const room = join(import.meta.dirname, '../../src/operations');
  const defined: string[] = [];
  for (const file of globSync('*.ts', { cwd: room })) {
    const exported: object = await import(join(room, file));
    for (const value of Object.values(exported))
      if (typeof value === 'object' && value !== null && 'run' in value && 'title' in value)
        defined.push((value as AnyOperation).name);
  }
  expect([...operations.keys()].toSorted()).toEqual(defined.toSorted());
  expect(Object.keys(inputs()).toSorted()).toEqual(defined.toSorted());
});

const maySomeone = ({ right, name }: AnyOperation, roles: readonly Role[]): boolean => {
  if (right === 'system') return false;
  if (right === 'own') return true;
  return hasRight(roles, typeof right === 'function' ? right(inputs()[name]) : right);
};

const application = (application_id: string): Caller => ({
  actor: { actor: application_id, actor_kind: 'application' },
  roles: [],
});
/** All roles, by an API token. */
const token = (): Caller => ({ actor: operatorCaller('olga').actor, roles: ROLES });

/** Everybody who may not run this operation. */
const outsiders = (operation: AnyOperation): Record<string, Caller> => {
  const found: Record<string, Caller> = { 'another application': application('other') };
  for (const roles of [[], ...ROLES.map((role) => [role])])
    if (!maySomeone(operation, roles)) found[`roles: ${roles}`] = operatorCaller('olga', ...roles);
  if (operation.byApplication === undefined) found['its application'] = application('acme');
  if (operation.knownBy !== undefined || operation.right === 'system') found['the command line'] = KIM;
  if (operation.knownBy === 'session') found['a token'] = token();
  return found;
};

it('refuses everybody who lacks the right, and writes nothing', async () => {
  const before = await everyRow(database.sql);
  for (const operation of operations.values())
    for (const [who, caller] of Object.entries(outsiders(operation)))
      await expect(run(operation, caller), `${operation.name} by ${who}`).rejects.toThrow(ForbiddenError);
  expect(await everyRow(database.sql)).toEqual(before);
});

it('writes approval.refuse and nothing else where the second person is missing', async () => {
  const { sql } = database;
  const takesTwo = [...operations.values()].filter(({ secondPerson }) => secondPerson !== undefined);
  const kinds = takesTwo.map(({ secondPerson }) => secondPerson?.kind);
  // `operator.add` and its like are of the kind `reviewer` too.
  expect(new Set([...kinds, 'reviewer'])).toEqual(new Set(APPROVAL_KINDS));
  const tried: (readonly [AnyOperation, approval_id: string | undefined])[] = [
    ...takesTwo.flatMap((each) => [[each, undefined] as const, [each, ID] as const]),
    [startAcceptingRun as AnyOperation, undefined],
  ];
  for (const [operation, approval_id] of tried) {
    const { audit_log: entries = [], audit_head: _, ...before } = await everyRow(sql);
    const refused = run(operation, operatorCaller('olga', ...ROLES), { approval_id });
    await expect(refused, operation.name).rejects.toThrow(ApprovalError);
    const { audit_log, audit_head: _head, ...after } = await everyRow(sql);
    expect(after).toEqual(before);
    expect(audit_log).toHaveLength(entries.length + 1);
    const [entry] = await listAudit(sql, { limit: 1 });
    const details = approval_id === undefined ? {} : { approval_id };
    expect(entry).toMatchObject({ actor: 'olga', action: 'approval.refuse', details });
  }
});
