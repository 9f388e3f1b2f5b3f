import { beforeAll, expect, it } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { identityRule } from '#src/rules/address-identity.ts';
import { at, ownId, readState } from '#test/db/game-state.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { oneGame } from '#test/support/landed.ts';
import { decideGame } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
beforeAll(() => addApplication(database.sql, 'acme'));

const state = (id: string) => readState(database.sql, id);

it('refreshes addresses in place if only what signs them changed: no revision, no status, no event', async () => {
  const id = ownId();
  const signed = (seconds: number, file = 'a') =>
    `https://cdn.example/${file}.png?AccessKeyId=k&Expires=${seconds}&Signature=s${seconds}`;
  const game = (seconds: number, minute: number) =>
    fetchedGame(
      {
        game_id: id,
        game_icon: [signed(seconds)],
        game_store_pic: [signed(seconds, 'b')],
        game_store_video: signed(seconds + 1, 'c'),
      },
      at(minute),
    );
  await upsertGames(database.sql, 'acme', [game(100, 0)]);
  const { game_id } = await oneGame(database.sql, 'acme', id);
  await decideGame(database.sql, { game_id, revision: 1, audit_status: 'passed' });
  const before = await state(id);
  expect(before.row.addresses_end_at).toEqual(new Date(100_000));
  const events = () => database.sql`select event_id from events where game_id = ${game_id}`;
  expect(await events()).toHaveLength(1);
  expect(await upsertGames(database.sql, 'acme', [game(200, 1)])).toEqual({ inserted: [], updated: [] });
  const { game_icon, game_store_pic, game_store_video, addresses_end_at } = game(200, 1);
  expect(await state(id)).toEqual({
    ...before,
    row: {
      ...before.row,
      fetched_at: at(1),
      game_icon,
      game_store_pic,
      game_store_video,
      addresses_end_at,
    },
  });
  expect(await events()).toHaveLength(1);
  // An answer that was requested earlier brings no older addresses.
  await upsertGames(database.sql, 'acme', [game(150, 0)]);
  expect((await state(id)).row.game_icon).toEqual(game_icon);
});

it.for<[what: string, before: string[], after: string[]]>([
  ['names a parameter', [], ['t']],
  ['names another one', ['t'], ['t', 'u']],
])('a rule that %s changes no game whose content is the same by it', async ([, before, after]) => {
  const id = ownId();
  const url = (t: number) => `https://cdn.example/a.png?id=1&t=${t}&u=1`;
  const fetch = (t: number, names: string[], changes = {}) =>
    fetchedGame({ game_id: id, game_icon: [url(t)], ...changes }, at(t), {}, identityRule(names));
  const setRule = (names: string[]) =>
    database.sql`update applications set volatile_parameters = ${names} where application_id = 'acme'`;
  await setRule(before);
  await upsertGames(database.sql, 'acme', [fetch(1, before)]);
  const { game_id } = await oneGame(database.sql, 'acme', id);
  await decideGame(database.sql, { game_id, revision: 1, audit_status: 'passed' });
  await setRule(after);
  const unchanged = { inserted: [], updated: [] };
  expect(await upsertGames(database.sql, 'acme', [fetch(2, after)])).toEqual(unchanged);
  const { row } = await state(id);
  expect(row).toMatchObject({ revision: 1, audit_status: 'passed', game_icon: [url(2)] });
  expect(row.content_hash).toBe(fetch(2, after).content_hash);
  // A job that began under the former rule: what counts is the rule of now.
  expect(await upsertGames(database.sql, 'acme', [fetch(3, before)])).toEqual(unchanged);
  expect((await state(id)).row).toMatchObject({ revision: 1, audit_status: 'passed', game_icon: [url(3)] });
  const changed = fetch(4, before, { game_info: 'Changed.' });
  expect(await upsertGames(database.sql, 'acme', [changed])).toEqual({ inserted: [], updated: [id] });
  expect((await state(id)).row).toMatchObject({ revision: 2, audit_status: 'pending' });
  await setRule([]);
});
