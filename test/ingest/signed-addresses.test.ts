import { beforeAll, expect, test } from 'vitest';
import { findApplication } from '#db/queries/applications.ts';
import { createAddressSigner } from '#src/sample-application/signer.ts';
import { KIM } from '#test/support/factories.ts';
import { onBothBackends, useTestFleet } from '#test/support/fleet.ts';
import { decideGames } from '#test/support/operate.ts';
import { until } from '#test/support/until.ts';

const HOUR_MS = 3_600_000;

onBothBackends('an application that signs its addresses', (kind) => {
  const fleet = useTestFleet(kind);
  beforeAll(() => fleet.startWorker());

  const passAll = async (application_id: string) => {
    const games = await fleet.sql<{ game_id: string; revision: number }[]>`
      select game_id, revision from games where application_id = ${application_id} and audit_status = 'pending'`;
    if (games.length > 0) await decideGames(fleet.sql, games, { audit_status: 'passed' }, KIM);
    return games.length;
  };
  const statuses = (application_id: string) =>
    fleet.sql<{ audit_status: string; revision: number; games: number }[]>`
      select audit_status, revision, count(*)::int as games from games where application_id = ${application_id}
      group by 1, 2 order by 1, 2`;

  test('ordinary runs fetch no detail and change nothing, and a full run refreshes addresses in place', async () => {
    const { server } = await fleet.addApplication(
      'signing',
      30,
      { every_ms: 15 * 60_000 },
      createAddressSigner(24 * 3_600),
    );
    expect(await fleet.sync('signing')).toMatchObject({ outcome: 'succeeded', inserted: 30, note: null });
    expect(await passAll('signing')).toBe(30);
    const addressesOf = async () =>
      (
        await fleet.sql<{ address: string }[]>`
        select unnest(game_icon || game_store_pic || game_store_video) as address
        from games where application_id = 'signing' order by game_id, 1`
      )
        .map(({ address }) => address)
        .filter((address) => address !== '');
    const before = await addressesOf();
    for (let run = 0; run < 3; run += 1) {
      // A signature names its second.
      const second = Math.floor(Date.now() / 1_000);
      await until('the next second', async () => Date.now() / 1_000 > second + 1);
      const ended = await fleet.sync('signing');
      expect(ended).toMatchObject({ outcome: 'succeeded', unchanged: 30, updated: 0, note: null });
    }
    expect(server.calls.query_game_detail).toBe(30);
    expect(await addressesOf()).toEqual(before);
    expect(await fleet.sync('signing', { full: true })).toMatchObject({
      unchanged: 30,
      updated: 0,
      note: null,
    });
    const after = await addressesOf();
    expect(after).toHaveLength(before.length);
    expect(after.filter((address) => before.includes(address))).toEqual([]);
    expect(await statuses('signing')).toEqual([{ audit_status: 'passed', revision: 1, games: 30 }]);
    const events = await fleet.sql`select type from events where application_id = 'signing'`;
    expect(events.map(({ type }) => type)).toEqual(Array(30).fill('game.passed'));
    const response = await fetch(after[0] ?? '');
    expect(response.status).toBe(200);
    expect((await fetch((after[0] ?? '').replace('Expires=86400', 'Expires=99999'))).status).toBe(403);
  });

  test('a game of which one picture is another one moves alone', async () => {
    const { server } = await fleet.addApplication('one', 10, {}, createAddressSigner(24 * 3_600));
    await fleet.sync('one');
    await passAll('one');
    const [game] = server.games.all();
    server.games.update(game?.game_id ?? '', { game_store_pic: [`${server.url}/media/other/shot-1.png`] });
    expect(await fleet.sync('one', { full: true })).toMatchObject({ unchanged: 9, updated: 1, note: null });
    expect(await statuses('one')).toEqual([
      { audit_status: 'passed', revision: 1, games: 9 },
      { audit_status: 'pending', revision: 2, games: 1 },
    ]);
  });

  test('details are fetched again before their addresses end', async () => {
    const { server } = await fleet.addApplication(
      'short',
      10,
      { every_ms: HOUR_MS },
      createAddressSigner(2 * 3_600),
    );
    await fleet.sync('short');
    expect(await fleet.sync('short')).toMatchObject({ unchanged: 10 });
    expect(server.calls.query_game_detail).toBe(10);
    await fleet.sql`
      update games set addresses_end_at = addresses_end_at - interval '50 minutes' where application_id = 'short'`;
    expect(await fleet.sync('short')).toMatchObject({ unchanged: 10, updated: 0 });
    expect(server.calls.query_game_detail).toBe(20);
    expect(await fleet.sync('short')).toMatchObject({ unchanged: 10 });
    expect(server.calls.query_game_detail).toBe(20);
  });

  test('the note of a run proposes the parameter in which all addresses move; once it is set, nothing moves', async () => {
    let turn = 0;
    const stamp = { sign: (address: string) => `${address}?v=2&t=${turn}`, isValid: () => true };
    const { server } = await fleet.addApplication('stamped', 30, {}, stamp);
    await fleet.sync('stamped');
    await passAll('stamped');
    turn += 1;
    const moved = await fleet.sync('stamped');
    const changed = moved.updated;
    // A game without a picture has no address.
    expect(changed).toBeGreaterThan(20);
    expect(moved.note).toBe(
      `all ${changed} changed games changed in their addresses alone: they differ in t. If that only signs or times them: npx catalogue app update stamped --volatile-parameter t`,
    );
    expect(await passAll('stamped')).toBe(changed);
    await fleet.sql`update applications set volatile_parameters = '{t}' where application_id = 'stamped'`;
    expect((await findApplication(fleet.sql, 'stamped'))?.volatile_parameters).toEqual(['t']);
    turn += 1;
    const calls = server.calls.query_game_detail;
    // The list's entries have other hashes under the new rule: each game with an icon is fetched once more.
    expect(await fleet.sync('stamped')).toMatchObject({ updated: 0, unchanged: 30, note: null });
    const more = server.calls.query_game_detail - calls;
    expect(more).toBeGreaterThan(0);
    turn += 1;
    expect(await fleet.sync('stamped')).toMatchObject({ updated: 0, unchanged: 30, note: null });
    expect(server.calls.query_game_detail - calls).toBe(more);
    expect((await statuses('stamped')).every(({ audit_status }) => audit_status === 'passed')).toBe(true);
    // Another version of a picture is a change still.
    server.games.update(server.games.all()[0]?.game_id ?? '', { game_info: 'Another text.' });
    expect(await fleet.sync('stamped', { full: true })).toMatchObject({ updated: 1, note: null });
  });

  test.each([
    ['path', (address: string, turn: number) => address.replace('/media/', `/media/${turn}/`)],
    ['host', (address: string, turn: number) => address.replace('127.0.0.1', `127.0.0.${turn + 1}`)],
    ['fragment', (address: string, turn: number) => `${address}#${turn}`],
  ])(
    'the note of a run says that all addresses move in their %s, for which there is no parameter',
    async (part, move) => {
      let turn = 0;
      const { server } = await fleet.addApplication(
        part,
        30,
        {},
        {
          sign: (address) => move(address, turn),
          isValid: () => true,
        },
      );
      await fleet.sync(part);
      turn += 1;
      const moved = await fleet.sync(part);
      expect(moved.note).toBe(
        `all ${moved.updated} changed games changed in their addresses alone, in other parts than parameters. If their pictures are the same, their developer must keep the addresses`,
      );
      for (const { game_id } of server.games.all()) server.games.update(game_id, { game_store_video: '' });
      turn += 1;
      expect((await fleet.sync(part, { full: true })).note).toBeNull();
    },
  );
});
