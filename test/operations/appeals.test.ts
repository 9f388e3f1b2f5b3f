import { expect, test } from 'vitest';
import { findOpenAppeal } from '#db/queries/appeals.ts';
import { findGame } from '#db/queries/games.ts';
import { appealRejection, overturnRejection, upholdRejection } from '#src/operations/appeals.ts';
import { applicationCaller, operateAsApplication } from '#src/operations/operate.ts';
import { LEE, useDecidedGames } from '#test/operations/decided-games.ts';
import { KIM } from '#test/support/factories.ts';
import { decideGame, decideGames, operateAs, undoGameDecisions } from '#test/support/operate.ts';

const { database, add, addOne, change, lastOf } = useDecidedGames();
const TEXT = 'The icon is ours.';

const reject = (game_id: string, revision = 1) =>
  decideGame(database.sql, { game_id, revision, audit_status: 'rejected', reason: 'rights', text: 'Whose?' });
const appeal = (game_id: string, text = TEXT) =>
  operateAsApplication(appealRejection, { game_id, text }, applicationCaller('acme'), database.sql);
const uphold = (game_id: string, by = LEE, text = 'No.') =>
  operateAs(database.sql, by, upholdRejection, { game_id, text });
const overturn = (game_id: string, by: { actor: string; actor_kind: 'operator' } = LEE, revision = 1) =>
  operateAs(database.sql, by, overturnRejection, { game_id, revision, text: 'Yes.' });
const status = async (game_id: string) => (await findGame(database.sql, game_id))?.audit_status;
const lastEvent = async (game_id: string) => {
  const [event] = await database.sql<{ type: string; data: Record<string, unknown> }[]>`
    select type, data from events where game_id = ${game_id} order by event_number desc limit 1`;
  return event;
};
const appealed = async (): Promise<string> => {
  const game_id = await addOne();
  await reject(game_id);
  await appeal(game_id);
  return game_id;
};

test('another reviewer overturns a rejection: the game is passed, and its developer reads why', async () => {
  const game_id = await appealed();
  for (const actor of ['kim', 'KIM', ' kim '])
    await expect(overturn(game_id, { actor, actor_kind: 'operator' })).rejects.toThrow(
      'kim rejected the game: another reviewer decides the appeal.',
    );
  expect(await overturn(game_id)).toMatchObject({ outcome: 'overturned', decided_by: 'lee', answer: 'Yes.' });
  expect(await status(game_id)).toBe('passed');
  expect(await lastEvent(game_id)).toMatchObject({
    type: 'game.passed',
    data: { audit_status: 'passed', why: 'appeal', text: 'Yes.' },
  });
  await expect(overturn(game_id)).rejects.toThrow('No appeal is open');
  await expect(appeal(game_id)).rejects.toThrow('The game is not rejected: there is nothing to appeal.');
});

test('an upheld rejection stays, and is not appealed again until the next one', async () => {
  const game_id = await appealed();
  await expect(appeal(game_id)).rejects.toThrow('a rejection is appealed once');
  await expect(uphold(game_id, KIM as typeof LEE)).rejects.toThrow('another reviewer decides');
  expect(await uphold(game_id)).toMatchObject({ outcome: 'upheld' });
  expect(await status(game_id)).toBe('rejected');
  expect(await lastEvent(game_id)).toMatchObject({
    type: 'game.appeal_upheld',
    data: { audit_status: 'rejected', why: 'appeal', text: 'No.' },
  });
  await expect(appeal(game_id)).rejects.toThrow('a rejection is appealed once');
  await decideGame(database.sql, { game_id, audit_status: 'rejected', reason: 'other', text: 'Anew.' });
  expect(await appeal(game_id)).toMatchObject({ outcome: null });
});

test('while an appeal is open, no other decision or undo is made on the game', async () => {
  const game_id = await appealed();
  const rejection = await lastOf(game_id);
  for (const actor of [KIM, LEE]) {
    const at = [{ game_id, revision: 1 }];
    const { games } = await decideGames(database.sql, at, { audit_status: 'passed' }, actor);
    const again = { audit_status: 'rejected', reason: 'rights' } as const;
    const { games: rejected } = await decideGames(database.sql, at, again, actor);
    const [undone] = await undoGameDecisions(database.sql, [rejection], actor);
    expect([games[0]?.result, rejected[0]?.result, undone?.result]).toEqual([
      'appealed',
      'appealed',
      'appealed',
    ]);
  }
  // The tables refuse it too.
  const { sql } = database;
  await expect(sql`update game_audits set undone_at = now() where game_id = ${game_id}`).rejects.toThrow(
    'The rejection is appealed',
  );
  await expect(
    sql`insert into game_audits (game_id, revision, audit_status, decided_by) values (${game_id}, 1, 'passed', 'kim')`,
  ).rejects.toThrow('The rejection is appealed');
  await expect(
    sql`insert into game_audits (game_id, revision, audit_status, decided_by, appeal_id)
        select game_id, 1, 'passed', 'kim', appeal_id from game_appeals where game_id = ${game_id}`,
  ).rejects.toThrow('was not overturned by this decision');
  expect(await status(game_id)).toBe('rejected');
});

test('the decision of an appeal is not undone, and stays when the game is rejected again', async () => {
  const game_id = await appealed();
  await overturn(game_id);
  const [undone] = await undoGameDecisions(database.sql, [await lastOf(game_id)], LEE);
  expect(undone?.result).toBe('appeal_decided');
  await reject(game_id);
  expect(await status(game_id)).toBe('rejected');
  expect(await appeal(game_id)).toMatchObject({ rejected_by: 'kim', outcome: null });
});

test('content that changes waits for review as any other: a decision on it voids the appeal', async () => {
  const game_id = await appealed();
  await change(game_id, 5);
  await expect(overturn(game_id, LEE, 2)).rejects.toThrow('The content has changed since the rejection');
  await expect(appeal(game_id)).rejects.toThrow('not rejected');
  expect(await findOpenAppeal(database.sql, game_id)).toBeDefined();
  await reject(game_id, 2);
  expect(await findOpenAppeal(database.sql, game_id)).toBeUndefined();
  expect(await appeal(game_id)).toMatchObject({ outcome: null });
});

test('an overturned game that cannot be passed stays rejected, and its appeal open', async () => {
  const game_id = await appealed();
  await expect(overturn(game_id, LEE, 7)).rejects.toThrow(
    'Nothing was decided: its content is at revision 1',
  );
  const { sql } = database;
  await sql`insert into application_holds (application_id, reason, held_by) values ('acme', 'x', 'kim')`;
  await expect(overturn(game_id)).rejects.toThrow('an operator holds its application');
  await sql`delete from application_holds`;
  expect(await status(game_id)).toBe('rejected');
  expect(await findOpenAppeal(sql, game_id)).toBeDefined();
  await overturn(game_id);
});

test('a withdrawn game is neither appealed nor decided until a listing names it again', async () => {
  const { sql } = database;
  const game_id = await appealed();
  const [other = ''] = await add(1);
  await reject(other);
  await sql`update games set withdrawn_at = now() where game_id in (${game_id}, ${other})`;
  await expect(uphold(game_id)).rejects.toThrow('decided when a listing names it again');
  await expect(appeal(other)).rejects.toThrow('The game is withdrawn: list it again, then appeal.');
  await sql`update games set withdrawn_at = null where game_id in (${game_id}, ${other})`;
  await uphold(game_id);
  expect(await appeal(other)).toMatchObject({ outcome: null });
});

test('a rejection that was carried over to new addresses is the same: of the same reviewer, appealed once', async () => {
  const { sql } = database;
  const game_id = await addOne();
  await reject(game_id);
  const rejection = await lastOf(game_id);
  await change(game_id, 5);
  await sql`
    insert into game_audits (game_id, revision, audit_status, decided_by, reason, carried_over_from)
    values (${game_id}, 2, 'rejected', 'catalogue', 'rights', ${rejection})`;
  await sql`update games set audit_status = 'rejected', audit_time = now() where game_id = ${game_id}`;
  expect(await appeal(game_id)).toMatchObject({ audit_id: rejection, rejected_by: 'kim' });
  await expect(overturn(game_id, KIM as typeof LEE, 2)).rejects.toThrow('another reviewer decides');
  await uphold(game_id);
  await expect(appeal(game_id)).rejects.toThrow('a rejection is appealed once');
});

test('two who decide an appeal at once: one decision', async () => {
  const game_id = await appealed();
  const both = [uphold(game_id), overturn(game_id, { actor: 'rui', actor_kind: 'operator' })];
  const results = await Promise.allSettled(both);
  expect(results.filter(({ status: each }) => each === 'fulfilled')).toHaveLength(1);
  const [row] = await database.sql<{ outcome: string }[]>`
    select outcome from game_appeals where game_id = ${game_id}`;
  expect(await status(game_id)).toBe(row?.outcome === 'upheld' ? 'rejected' : 'passed');
});
