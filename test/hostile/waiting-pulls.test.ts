import { expect, test } from 'vitest';
import { listDueRefreshes, requestGames } from '#db/queries/refreshes.ts';
import { pullGameDetail, queryCpKyc } from '#src/ingest/specs.ts';
import { aFleet, raw, startHostileApplication } from '#test/support/hostile-application.ts';
import { listFailures } from '#test/support/stored-rows.ts';
import { until } from '#test/support/until.ts';

const STATUS_503 = { path: '', code: 'http_status 503' };

test('a KYC pull, asked to wait for over an hour in all, fails with a reason', async () => {
  const fleet = await aFleet();
  const later = () => raw('later', 503, { 'retry-after': '900' });
  const application = await startHostileApplication(fleet, 'acme', { list: later, detail: later });
  const queue = fleet.producer.queue(queryCpKyc);
  await fleet.producer.add(queryCpKyc, { application_id: 'acme' });
  const [waiting] = await until('it waits', async () => {
    const delayed = await queue.getDelayed();
    return delayed.length > 0 ? delayed : undefined;
  });
  expect(application.calls.detail).toBe(1);
  await waiting?.updateProgress({ postponed_ms: 50 * 60_000 });
  await until('it failed', async () => {
    // Its later attempts are seconds apart.
    for (const each of await queue.getDelayed()) await each.promote().catch(() => {});
    return (await queue.getFailedCount()) === 1;
  });
  expect(await listFailures(fleet.sql, { application_id: 'acme', limit: 10 })).toMatchObject([
    { operation: 'query_cp_kyc', application_game_id: '', kind: 'http_status', reasons: [STATUS_503] },
  ]);
});

test('a pull, asked to wait for over an hour in all, fails with a reason, and keeps to each wait until then', async () => {
  const fleet = await aFleet();
  const later = () => raw('later', 503, { 'retry-after': '900' });
  const application = await startHostileApplication(fleet, 'acme', { list: later, detail: later });
  const pull = async () => {
    const { id } = await fleet.producer.add(pullGameDetail, { application_id: 'acme' });
    return fleet.jobEnded(pullGameDetail, id);
  };
  const state = () => fleet.sql`
    select attempts, extract(epoch from next_at - now())::int > 890 as waits
    from refresh_turns left join refresh_requests using (application_id)`;
  await requestGames(fleet.sql, 'acme', ['g-1']);
  await pull();
  expect(await state()).toEqual([{ attempts: 0, waits: true }]);
  expect(await listDueRefreshes(fleet.sql, 9, 1e9)).toEqual([]);

  await fleet.sql`update refresh_requests set requested_at = now() - interval '50 minutes'`;
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    await pull();
    expect(await state()).toEqual([{ attempts: attempt < 3 ? attempt : null, waits: true }]);
  }
  expect(application.calls.detail).toBe(4);
  expect(await listFailures(fleet.sql, { application_id: 'acme', limit: 10 })).toMatchObject([
    {
      operation: 'query_game_detail',
      application_game_id: 'g-1',
      kind: 'http_status',
      reasons: [STATUS_503],
    },
  ]);
});
