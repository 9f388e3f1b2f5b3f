import { expect, it } from 'vitest';
import { listRevisions } from '#db/queries/games.ts';
import { onBothBackends, useTestFleet } from '#test/support/fleet.ts';
import { asSent, gamesOf, oneGame, rowVersions } from '#test/support/landed.ts';

onBothBackends('A whole run', (kind) => {
  const fleet = useTestFleet(kind, 1);

  /** How many games are not withdrawn: of those it always had, and of those named new-. */
  const shownOf = async (application_id: string) => {
    const rows = [...(await gamesOf(fleet.sql, application_id)).values()];
    const shown = rows.filter((row) => row.withdrawn_at === null);
    const isNew = shown.filter((row) => row.application_game_id.startsWith('new-'));
    return { former: shown.length - isNew.length, new: isNew.length };
  };

  it('lands every game of every page with each field as the webhook sent it', async () => {
    const { server } = await fleet.addApplication('every-field', 250);
    const run = await fleet.sync('every-field');
    expect(run).toMatchObject({ outcome: 'succeeded', reason: null, note: null, listed: 250, inserted: 250 });
    expect(run).toMatchObject({ updated: 0, unchanged: 0, invalid: 0, failed: 0, missing: 0, withdrawn: 0 });
    expect(server.calls).toMatchObject({ query_game_list: 3, query_game_detail: 250 });

    const rows = await gamesOf(fleet.sql, 'every-field');
    expect([...rows.values()].map(asSent).sort(byId)).toEqual(server.games.all().sort(byId));
    for (const row of rows.values()) {
      expect(row).toMatchObject({
        audit_status: 'pending',
        audit_time: null,
        game_package_url: '',
        revision: 1,
        withdrawn_at: null,
      });
      expect(row.game_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    }
  });

  it('calls no detail webhook and writes no game row when nothing has changed', async () => {
    const { server } = await fleet.addApplication('unchanged', 230);
    await fleet.sync('unchanged');
    const before = await rowVersions(fleet.sql, 'unchanged');
    const run = await fleet.sync('unchanged');
    expect(run).toMatchObject({ outcome: 'succeeded', listed: 230, unchanged: 230, inserted: 0, updated: 0 });
    expect(server.calls.query_game_detail).toBe(230);
    expect(await rowVersions(fleet.sql, 'unchanged')).toEqual(before);
  });

  it('updates exactly the game whose description changed and keeps its former revision', async () => {
    // The list does not show a description: only a new detail can.
    const { server } = await fleet.addApplication('one-change', 120, { detail_max_age_ms: 0 });
    await fleet.sync('one-change');
    const changed = server.games.all()[57]?.game_id ?? '';
    const before = await oneGame(fleet.sql, 'one-change', changed);
    server.games.update(changed, { game_info: 'Now with a lighthouse.' });

    const run = await fleet.sync('one-change');
    expect(run).toMatchObject({ outcome: 'succeeded', updated: 1, inserted: 0, unchanged: 119 });
    const rows = await gamesOf(fleet.sql, 'one-change');
    expect(
      [...rows.values()].filter((row) => row.revision > 1).map((row) => row.application_game_id),
    ).toEqual([changed]);
    expect(rows.get(changed)).toMatchObject({
      game_id: before.game_id,
      game_desc: 'Now with a lighthouse.',
      audit_status: 'pending',
      revision: 2,
    });
    const revisions = await listRevisions(fleet.sql, before.game_id);
    expect(revisions.map(({ revision, game_desc }) => [revision, game_desc])).toEqual([
      [2, 'Now with a lighthouse.'],
      [1, before.game_desc],
    ]);
  });

  it('fetches the one detail whose list entry changed', async () => {
    const { server } = await fleet.addApplication('renamed', 120);
    await fleet.sync('renamed');
    const changed = server.games.all()[110]?.game_id ?? '';
    server.games.update(changed, { game_name: 'Paper Harbour II' });
    const run = await fleet.sync('renamed');
    expect(run).toMatchObject({ outcome: 'succeeded', updated: 1, unchanged: 119 });
    expect(server.calls.query_game_detail).toBe(121);
  });

  it('withdraws exactly the ten games that disappear, and restores them under their game_id', async () => {
    const { server } = await fleet.addApplication('ten-gone', 250);
    await fleet.sync('ten-gone');
    const before = await gamesOf(fleet.sql, 'ten-gone');
    const ids = server.games.all().map((game) => game.game_id);
    const gone = ids.filter((_, index) => index % 25 === 7);
    const removed = gone.map((id) => server.games.remove(id));
    const withdrawnNow = async () => {
      const rows = await gamesOf(fleet.sql, 'ten-gone');
      return [...rows.values()]
        .filter((row) => row.withdrawn_at !== null)
        .map((row) => row.application_game_id);
    };

    expect(await fleet.sync('ten-gone')).toMatchObject({ outcome: 'succeeded', listed: 240, withdrawn: 10 });
    expect((await withdrawnNow()).sort()).toEqual(gone.sort());

    for (const game of removed) server.games.add(game);
    expect(await fleet.sync('ten-gone')).toMatchObject({
      outcome: 'succeeded',
      listed: 250,
      unchanged: 250,
      withdrawn: 0,
    });
    expect(await withdrawnNow()).toEqual([]);
    const after = await gamesOf(fleet.sql, 'ten-gone');
    for (const [id, row] of before) expect(after.get(id)?.game_id).toBe(row.game_id);
  });

  it('fetches every detail with full', async () => {
    const { server } = await fleet.addApplication('full', 130);
    await fleet.sync('full');
    const run = await fleet.sync('full', { full: true });
    expect(run).toMatchObject({ outcome: 'succeeded', unchanged: 130, updated: 0 });
    expect(server.calls.query_game_detail).toBe(260);
  });

  it('withdraws no game when more than half would go, until an operator accepts it', async () => {
    const { server } = await fleet.addApplication('half-gone', 30);
    await fleet.sync('half-gone');
    for (const { game_id } of server.games.all().slice(0, 16)) server.games.remove(game_id);

    const suspect = await fleet.sync('half-gone');
    expect(suspect).toMatchObject({ outcome: 'suspect', withdrawn: 0, listed: 14 });
    expect(suspect.reason).toContain('accept it on the page of the run, or with run accept');
    expect(server.calls.query_game_detail).toBe(30);

    const accepted = await fleet.sync('half-gone', { accept_withdrawals: true });
    expect(accepted).toMatchObject({ outcome: 'succeeded', withdrawn: 16 });
  });

  it('withdraws no game when all have new ids, run after run, until an operator accepts it', async () => {
    const { server } = await fleet.addApplication('swapped', 30);
    await fleet.sync('swapped');
    for (const game of server.games.all()) {
      server.games.remove(game.game_id);
      server.games.add({ ...game, game_id: `new-${game.game_id}` });
    }
    const suspect = await fleet.sync('swapped');
    expect(suspect).toMatchObject({ outcome: 'suspect', withdrawn: 0, inserted: 30 });
    expect(suspect.reason).toContain('would withdraw 30 of 30 games');
    expect(await shownOf('swapped')).toEqual({ former: 30, new: 30 });

    const again = await fleet.sync('swapped');
    expect(again).toMatchObject({ outcome: 'suspect', withdrawn: 0, unchanged: 30 });
    const accepted = await fleet.sync('swapped', { accept_withdrawals: true });
    expect(accepted).toMatchObject({ outcome: 'succeeded', withdrawn: 30, unchanged: 30 });
    expect(await shownOf('swapped')).toEqual({ former: 0, new: 30 });
  });

  it('withdraws what a suspect run brought once the application lists its former games again', async () => {
    const { server } = await fleet.addApplication('back', 30);
    await fleet.sync('back');
    const former = server.games.all().map(({ game_id }) => server.games.remove(game_id));
    for (const game of former) server.games.add({ ...game, game_id: `new-${game.game_id}` });
    expect(await fleet.sync('back')).toMatchObject({ outcome: 'suspect', withdrawn: 0 });
    for (const { game_id } of server.games.all()) server.games.remove(game_id);
    for (const game of former) server.games.add(game);
    expect(await fleet.sync('back')).toMatchObject({ outcome: 'succeeded', withdrawn: 30 });
    expect(await shownOf('back')).toEqual({ former: 30, new: 0 });
  });

  it('ends at once, and well, when an application has no game', async () => {
    const { server } = await fleet.addApplication('empty', 0);
    expect(await fleet.sync('empty')).toMatchObject({ outcome: 'succeeded', listed: 0 });
    expect(server.calls).toMatchObject({ query_game_list: 1, query_game_detail: 0 });
  });

  it('lists each application for itself while several run at once', async () => {
    const ids = ['side-a', 'side-b', 'side-c'];
    for (const id of ids) await fleet.addApplication(id, 110);
    const runs = await Promise.all(ids.map((id) => fleet.sync(id)));
    for (const run of runs) expect(run).toMatchObject({ outcome: 'succeeded', inserted: 110 });
  });
});

const byId = (a: { game_id: string }, b: { game_id: string }): number => (a.game_id < b.game_id ? -1 : 1);
