import { expect, test } from 'vitest';
import { STORAGE } from '#src/rules/budgets.ts';
import {
  aFleet,
  goodDetail,
  idsOf,
  quarantined,
  startHostileApplication,
  wellBehaved,
} from '#test/support/hostile-application.ts';

test('new games beyond what an application may have fail and say so; those that it has are updated', async () => {
  const fleet = await aFleet();
  const application = await startHostileApplication(fleet, 'acme', wellBehaved(idsOf('g', 3)));
  expect(await fleet.sync('acme')).toMatchObject({ inserted: 3, storable_games: STORAGE.games - 3 });
  // The run begins with room for two more.
  await fleet.sql`
    create function leave_room() returns trigger language plpgsql as $$
    begin new.storable_games := 2; return new; end $$`;
  await fleet.sql`create trigger leave_room before insert on sync_runs for each row execute function leave_room()`;
  const ids = idsOf('g', 8);
  application.behaviour = {
    ...wellBehaved(ids),
    detail: (id) => ({ data: { ...goodDetail(id), game_info: 'changed' } }),
  };
  expect(await fleet.sync('acme', { full: true })).toMatchObject({
    outcome: 'partial',
    inserted: 2,
    updated: 3,
    failed: 3,
    storable_games: 0,
  });
  const failures = Object.values(await quarantined(fleet, 'acme'));
  expect(failures).toEqual(Array.from({ length: 3 }, () => 'too_many_games (too_many_games)'));
  const [stored] = await fleet.sql`select count(*)::int as games from games`;
  expect(stored).toEqual({ games: 5 });
});

test('games that are withdrawn, decided or not counted yet take room, too', async () => {
  const fleet = await aFleet();
  const application = await startHostileApplication(fleet, 'acme', wellBehaved(idsOf('g', 3)));
  await fleet.sync('acme');
  await fleet.sql`select fold_game_counts()`;
  const change = (id: string, values: Record<string, unknown>) =>
    fleet.sql`update games set ${fleet.sql(values)} where application_game_id = ${id}`;
  await change('g-0000', { withdrawn_at: new Date() });
  await change('g-0001', { audit_status: 'passed', audit_time: new Date() });
  application.behaviour = wellBehaved(['g-0001', 'g-0002', 'new']);
  expect(await fleet.sync('acme')).toMatchObject({ inserted: 1, storable_games: STORAGE.games - 4 });
});

test('withdrawals count for the budget of stored bytes: games cannot go and return without end', async () => {
  const fleet = await aFleet();
  const ids = idsOf('g', 40);
  const half = ids.slice(0, 20);
  const application = await startHostileApplication(fleet, 'acme', wellBehaved(ids));
  const goAndReturn = async () => {
    application.behaviour = {
      ...wellBehaved(half),
      detail: (id) => ({ data: half.includes(id) ? goodDetail(id) : null }),
    };
    const gone = await fleet.sync('acme');
    application.behaviour = wellBehaved(ids);
    return { gone, back: await fleet.sync('acme') };
  };
  await fleet.sync('acme');
  const { gone, back } = await goAndReturn();
  expect(gone).toMatchObject({ withdrawn: 20, stored_bytes: 20 * STORAGE.bytesOfWithdrawal });
  const used = gone.stored_bytes + back.stored_bytes + 40 * STORAGE.bytesOfGame;
  expect(back).toMatchObject({ outcome: 'succeeded', stored_bytes: 0 });
  const next = await goAndReturn();
  expect(next.gone.storable_bytes).toBeLessThanOrEqual(STORAGE.bytesPerDay - used);
  // Each withdrawal left an absence and two events; with the budget used up there are no further ones.
  const [events] = await fleet.sql`select count(*)::int as count from events`;
  expect(events).toEqual({ count: 80 });
  await fleet.sql`
    update sync_runs set stored_bytes = ${STORAGE.bytesPerDay} where run_id = ${next.back.run_id}`;
  const after = await goAndReturn();
  expect(after.gone).toMatchObject({ outcome: 'failed', withdrawn: 0 });
  expect(after.gone.reason).toMatch(/^over_quota: /);
});
