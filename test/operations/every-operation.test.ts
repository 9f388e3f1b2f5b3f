import { globSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { upsertGames } from '#db/queries/games.ts';
import { closeRun } from '#db/queries/runs.ts';
import { APPROVAL_KINDS } from '#src/contract/approvals.ts';
import { hasRight, ROLES, type Role } from '#src/contract/roles.ts';
import { NotFoundError } from '#src/errors.ts';
import { operations } from '#src/operations/index.ts';
import { operate } from '#src/operations/operate.ts';
import { type AnyOperation, type Caller, ForbiddenError } from '#src/operations/operation.ts';
import { startAcceptingRun } from '#src/operations/runs.ts';
import { ApprovalError } from '#src/operations/second-person.ts';
import { ID, type Inputs, inputsOf } from '#test/operations/inputs.ts';
import { addOperators } from '#test/support/approvals.ts';
import { addApplication, anOpenRun, fetchedGame } from '#test/support/factories.ts';
import { PLANTED, ringOf, store } from '#test/support/kyc.ts';
import { KIM, operatorCaller, testPlatform } from '#test/support/operate.ts';
import { everyRow } from '#test/support/stored.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const keys = ringOf(['k1']);
/** An application with everything that takes two persons: a record, another cp_id, a suspect run. Two persons could. */
let inputs: () => Inputs;
beforeAll(async () => {
  const { sql } = database;
  await addApplication(sql, 'acme', {}, keys);
  await store(sql, keys, 'acme', PLANTED);
  await store(sql, keys, 'acme', { ...PLANTED, cp_id: 'cp-other' });
  const game = fetchedGame();
  await upsertGames(sql, 'acme', [game]);
  const run = await anOpenRun(sql, 'acme');
  await closeRun(sql, run, { outcome: 'suspect', reason: 'all games are gone' });
  const suspect = run.run_id;
  inputs = () => inputsOf(suspect, game.game_id);
  await sql`insert into vanishing_games (run_id, game_id) values (${suspect}, ${game.game_id})`;
  await addOperators(sql, { olga: [...ROLES], lee: [...ROLES], quinn: ['kyc_officer'], vera: ['viewer'] });
  await sql`update operators set status = 'disabled' where login = 'quinn'`;
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
  if (right === 'system' || right === 'application') return false;
  if (right === 'own') return true;
  return hasRight(roles, typeof right === 'function' ? right(inputs()[name]) : right);
};

const application = (application_id: string): Caller => ({
  actor: { actor: application_id, actor_kind: 'application' },
  roles: [],
});
/** All roles, by an API token. */
const token = (): Caller => ({ actor: operatorCaller('olga').actor, roles: ROLES, token_id: ID });

/** Everybody who may not run this operation. */
const outsiders = (operation: AnyOperation): Record<string, Caller> => {
  const found: Record<string, Caller> = { 'another application': application('other') };
  for (const roles of [[], ...ROLES.map((role) => [role])])
    if (!maySomeone(operation, roles)) found[`roles: ${roles}`] = operatorCaller('olga', ...roles);
  if (operation.byApplication === undefined) found['its application'] = application('acme');
  if (operation.knownBy !== undefined || operation.right === 'system') found['the command line'] = KIM;
  if (operation.knownBy === 'session' || operation.notByToken !== undefined) found['a token'] = token();
  return found;
};

it('refuses everybody who lacks the right, and writes nothing', async () => {
  const before = await everyRow(database.sql);
  for (const operation of operations.values())
    for (const [who, caller] of Object.entries(outsiders(operation)))
      await expect(run(operation, caller), `${operation.name} by ${who}`).rejects.toSatisfy(
        (error) =>
          error instanceof ForbiddenError ||
          // A game of another application is as one that does not exist.
          (error instanceof NotFoundError && who === 'another application'),
      );
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
    const {
      audit_log: entries = [],
      audit_head: _,
      sign_in_attempts: _counts,
      ...before
    } = await everyRow(sql);
    const refused = run(operation, operatorCaller('olga', ...ROLES), { approval_id });
    await expect(refused, operation.name).rejects.toThrow(ApprovalError);
    const { audit_log, audit_head: _head, sign_in_attempts: _counted, ...after } = await everyRow(sql);
    expect(after).toEqual(before);
    expect(audit_log).toHaveLength(entries.length + 1);
    const [entry] = await listAudit(sql, { limit: 1 });
    const kind = operation.secondPerson?.kind ?? 'withdrawals';
    const details = approval_id === undefined ? { kind } : { approval_id };
    expect(entry).toMatchObject({ actor: 'olga', action: 'approval.refuse', details });
  }
});
