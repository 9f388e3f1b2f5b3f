import { expect, it } from 'vitest';
import { findGame, upsertGames } from '#db/queries/games.ts';
import { findApplicationGame } from '#db/queries/timeline.ts';
import type { EventData } from '#db/schema/events.ts';
import { addApplication, fetchedGame, KIM } from '#test/support/factories.ts';
import { fleetBackend, useTestFleet } from '#test/support/fleet.ts';
import {
  acceptWithdrawals,
  decideGame,
  decideGames,
  removeApplication,
  setPackageUrls,
  undoGameDecisions,
} from '#test/support/operate.ts';

const fleet = useTestFleet(fleetBackend(), 1);

type Written = { type: string; data: EventData };
let seen = 0;
/** The events since the last call, in the order of their transactions. */
const written = async (): Promise<Written[]> => {
  const rows = await fleet.sql<Written[]>`select type, data from events order by created_at, event_id`;
  const fresh = rows.slice(seen);
  seen = rows.length;
  return fresh;
};
const short = (events: readonly Written[]) => events.map(({ type, data }) => `${type} ${data.why}`).sort();

/** A pending game of an application without a server. */
let names = 0;
const aGame = async (): Promise<{ application_id: string; game_id: string; application_game_id: string }> => {
  names += 1;
  const application_id = `quiet-${names}`;
  await addApplication(fleet.sql, application_id);
  const game = fetchedGame({ game_id: `g-${names}` });
  await upsertGames(fleet.sql, application_id, [game]);
  return { application_id, game_id: game.game_id, application_game_id: game.application_game_id };
};
const change = async (
  { application_id, application_game_id }: Awaited<ReturnType<typeof aGame>>,
  text: string,
) =>
  upsertGames(fleet.sql, application_id, [
    fetchedGame({ game_id: application_game_id, game_info: text }, new Date()),
  ]);

it('a decision, another one, and their undo write one event each, with what the application may know', async () => {
  const game = await aGame();
  expect(await written()).toEqual([]);
  await decideGame(fleet.sql, { game_id: game.game_id, audit_status: 'passed', note: 'private' });
  const row = await findGame(fleet.sql, game.game_id);
  const about = {
    game_id: game.game_id,
    application_game_id: game.application_game_id,
    game_name: 'Lantern Harbour',
    revision: 1,
  };
  expect(await written()).toEqual([
    {
      type: 'game.passed',
      data: { ...about, audit_status: 'passed', audit_time: row?.audit_time?.toISOString(), why: 'decided' },
    },
  ]);
  const rejection = {
    audit_status: 'rejected',
    reason: 'incomplete',
    text: 'No end.',
    note: 'private',
  } as const;
  await decideGame(fleet.sql, { game_id: game.game_id, ...rejection });
  const reasons = {
    reason: 'incomplete',
    reason_label: expect.stringContaining('incomplete'),
    text: 'No end.',
  };
  expect(await written()).toEqual([
    {
      type: 'game.rejected',
      data: {
        ...about,
        ...reasons,
        audit_status: 'rejected',
        audit_time: expect.any(String),
        why: 'decided',
      },
    },
  ]);
  // The same status with another reason is another decision.
  await decideGame(fleet.sql, { game_id: game.game_id, audit_status: 'rejected', reason: 'rights' });
  expect(await written()).toMatchObject([{ type: 'game.rejected', data: { reason: 'rights', text: '' } }]);
  const undo = async () => {
    const [last] = await fleet.sql<{ audit_id: number }[]>`
      select audit_id from game_audits where game_id = ${game.game_id} and undone_at is null order by audit_id desc limit 1`;
    await undoGameDecisions(fleet.sql, [last?.audit_id ?? 0], KIM);
    return written();
  };
  expect(await undo()).toMatchObject([
    { type: 'game.rejected', data: { ...reasons, why: 'decision_undone' } },
  ]);
  const passedAgain = await undo();
  expect(passedAgain).toMatchObject([
    { type: 'game.passed', data: { why: 'decision_undone', audit_time: row?.audit_time?.toISOString() } },
  ]);
  expect(passedAgain[0]?.data).not.toHaveProperty('reason');
  expect(await undo()).toMatchObject([
    { type: 'game.pending', data: { why: 'decision_undone', audit_status: 'pending', audit_time: '' } },
  ]);
});

it('a batch and its undo write one event a game', async () => {
  const games = [await aGame(), await aGame(), await aGame()];
  const pairs = games.map(({ game_id }) => ({ game_id, revision: 1 }));
  const { batch_id } = await decideGames(fleet.sql, pairs, { audit_status: 'passed' }, KIM);
  expect(short(await written())).toEqual(Array(3).fill('game.passed decided'));
  const rows = await fleet.sql<
    { audit_id: number }[]
  >`select audit_id from game_audits where batch_id = ${batch_id}`;
  await undoGameDecisions(
    fleet.sql,
    rows.map(({ audit_id }) => audit_id),
    KIM,
  );
  expect(short(await written())).toEqual(Array(3).fill('game.pending decision_undone'));
});

it('changed content and changed pictures of a decided game write one event; what changes no status writes none', async () => {
  const game = await aGame();
  await change(game, 'Never decided.');
  expect(await written()).toEqual([]);
  await decideGame(fleet.sql, { game_id: game.game_id, revision: 2, audit_status: 'passed' });
  await written();
  await change(game, 'Never decided.');
  const url = { game_id: game.game_id, game_package_url: 'https://cdn.example/game.zip' };
  await setPackageUrls(fleet.sql, [url], KIM);
  expect(await decideGame(fleet.sql, { game_id: game.game_id, revision: 1, audit_status: 'passed' })).toBe(
    false,
  );
  expect(await written()).toEqual([]);
  await change(game, 'Another text.');
  expect(await written()).toMatchObject([
    { type: 'game.pending', data: { why: 'content_changed', revision: 3, audit_time: '' } },
  ]);
  await change(game, 'And another one.');
  expect(await written()).toEqual([]);
  await decideGame(fleet.sql, { game_id: game.game_id, revision: 4, audit_status: 'passed' });
  await written();
  // As the picture jobs do.
  await fleet.sql`
    update games set audit_status = 'pending', audit_time = null where game_id = ${game.game_id}`;
  expect(await written()).toMatchObject([
    { type: 'game.pending', data: { why: 'pictures_changed', revision: 4 } },
  ]);
});

it('a change that is rolled back writes nothing', async () => {
  const { game_id } = await aGame();
  const attempt = fleet.sql.begin(async (tx) => {
    await tx`update games set audit_status = 'passed', audit_time = now() where game_id = ${game_id}`;
    throw new Error('killed');
  });
  await expect(attempt).rejects.toThrow('killed');
  expect(await written()).toEqual([]);
});

it('withdrawals and returns of runs write one event a game, and the accepted games of a suspect run too', async () => {
  const { server } = await fleet.addApplication('shrinking', 30);
  await fleet.sync('shrinking');
  const all = server.games.all();
  const decide = async (from: number, to: number) => {
    for (const { game_id } of all.slice(from, to)) {
      const row = await findApplicationGame(fleet.sql, 'shrinking', game_id);
      await decideGame(fleet.sql, { game_id: row?.game_id ?? '', audit_status: 'passed' });
    }
  };
  await decide(0, 2);
  await written();
  // Two games that are gone: their detail is null.
  const gone = all.slice(0, 2);
  for (const { game_id } of gone) server.games.remove(game_id);
  await fleet.sync('shrinking');
  expect(short(await written())).toEqual(Array(2).fill('game.withdrawn not_listed'));
  for (const game of gone) server.games.add(game);
  await fleet.sync('shrinking');
  expect(short(await written())).toEqual(Array(2).fill('game.passed returned'));
  for (const { game_id } of all.slice(10)) server.games.remove(game_id);
  const run = await fleet.sync('shrinking');
  expect(run.outcome).toBe('suspect');
  expect(await written()).toEqual([]);
  const accepted = await acceptWithdrawals(fleet.sql, run.run_id, undefined, KIM);
  expect(accepted).toHaveLength(20);
  expect(short(await written())).toEqual(Array(20).fill('game.withdrawn not_listed'));
});

it('a game that returns with other content writes one event', async () => {
  const game = await aGame();
  await decideGame(fleet.sql, { game_id: game.game_id, audit_status: 'passed' });
  await fleet.sql`update games set withdrawn_at = now() where game_id = ${game.game_id}`;
  expect(short(await written())).toEqual(['game.passed decided', 'game.withdrawn not_listed']);
  await change(game, 'Back, and different.');
  expect(short(await written())).toEqual(['game.pending content_changed']);
});

it('the removal of an application writes none: no token may read them', async () => {
  const { application_id } = await aGame();
  await removeApplication(fleet.sql, application_id);
  expect(await written()).toEqual([]);
});

it('an undo on a withdrawn game writes no event; the game has the status that follows when it returns', async () => {
  const game = await aGame();
  await decideGame(fleet.sql, { game_id: game.game_id, audit_status: 'passed' });
  await decideGame(fleet.sql, { game_id: game.game_id, audit_status: 'rejected', reason: 'duplicate' });
  await fleet.sql`update games set withdrawn_at = now() where game_id = ${game.game_id}`;
  expect(short(await written())).toEqual([
    'game.passed decided',
    'game.rejected decided',
    'game.withdrawn not_listed',
  ]);
  const [last] = await fleet.sql<{ audit_id: number }[]>`
    select max(audit_id) as audit_id from game_audits where game_id = ${game.game_id}`;
  const undone = await undoGameDecisions(fleet.sql, [last?.audit_id ?? 0], KIM);
  expect(undone).toMatchObject([{ result: 'undone', game: { audit_status: 'passed' } }]);
  expect(await written()).toEqual([]);
  await fleet.sql`update games set withdrawn_at = null where game_id = ${game.game_id}`;
  expect(await written()).toMatchObject([
    { type: 'game.passed', data: { why: 'returned', audit_status: 'passed' } },
  ]);
});
