import { describe, expect, test } from 'vitest';
import { findKycState } from '#db/queries/kyc.ts';
import { hasWaitingGames, insertRefreshes, requestGames } from '#db/queries/refreshes.ts';
import { findOpenRun, findRun, type RunRow } from '#db/queries/runs.ts';
import { recoverRuns } from '#src/ingest/recover-runs.ts';
import { pullGameDetail, queryCpKyc } from '#src/ingest/specs.ts';
import { addUrgentJobs } from '#src/ingest/urgent-jobs.ts';
import { changeApplication } from '#src/operations/applications.ts';
import { operate } from '#src/operations/operate.ts';
import { generateKycRecord } from '#src/sample-application/kyc.ts';
import { startSampleApplication } from '#src/sample-application/start.ts';
import { ACCESS_TOKEN, addApplication, moveWebhooks, webhooksAt } from '#test/support/factories.ts';
import { fleetBackend, startTestFleet, type TestFleet } from '#test/support/fleet.ts';
import { startGate } from '#test/support/gate.ts';
import { gamesOf } from '#test/support/landed.ts';
import { KIM, removeApplication, testPlatform } from '#test/support/operate.ts';

/** Two servers with the same game ids and different content. */
const twoServers = async (use: AsyncDisposableStack) => {
  const start = async (name: string) => {
    const server = await startSampleApplication({ accessToken: ACCESS_TOKEN, games: 1, seed: 'same' });
    use.defer(() => server.close());
    const { game_id } = server.games.all()[0] as { game_id: string };
    server.games.update(game_id, { game_name: name });
    server.games.kyc = { ...generateKycRecord('same'), cp_id: name };
    return { server, game_id };
  };
  return { former: await start('former'), next: await start('next') };
};

const shown = async (fleet: TestFleet): Promise<string[]> =>
  [...(await gamesOf(fleet.sql, 'acme')).values()]
    .filter((game) => game.withdrawn_at === null)
    .map((game) => game.game_name);

const providers = async (fleet: TestFleet): Promise<string[]> => {
  const rows = await fleet.sql<{ id: string }[]>`
    select application_cp_id as id from content_providers where application_id = 'acme'`;
  return rows.map(({ id }) => id);
};

describe('A call that is in flight', () => {
  test.each([
    [
      'is removed and registered again',
      async (fleet: TestFleet, url: string, game_id: string) => {
        await removeApplication(fleet.sql, 'acme');
        await addApplication(fleet.sql, 'acme', webhooksAt(url));
        // The request of the former registration is gone with it.
        expect(await hasWaitingGames(fleet.sql, 'acme', [game_id])).toBe(false);
        await requestGames(fleet.sql, 'acme', [game_id]);
      },
    ],
    [
      'gets other addresses',
      async (fleet: TestFleet, url: string) => {
        expect(await moveWebhooks(fleet.sql, 'acme', webhooksAt(url))).toBe(true);
      },
    ],
  ] as const)('while its application %s stores nothing of the former server', async (_, move) => {
    await using use = new AsyncDisposableStack();
    const fleet = await startTestFleet(fleetBackend());
    use.defer(() => fleet.stop());
    const { former, next } = await twoServers(use);
    const gate = await startGate(former.server.url);
    use.defer(() => gate.close());
    await addApplication(fleet.sql, 'acme', webhooksAt(gate.url));
    await fleet.startWorker();
    gate.block(() => true);
    await requestGames(fleet.sql, 'acme', [former.game_id]);
    const pull = await fleet.producer.add(pullGameDetail, { application_id: 'acme' });
    const kyc = await fleet.producer.add(queryCpKyc, { application_id: 'acme' });
    await gate.blocked(2);
    await move(fleet, next.server.url, former.game_id);
    gate.release();
    expect((await fleet.jobEnded(pullGameDetail, pull.id)).returnvalue).toMatchObject({ inserted: 1 });
    expect((await fleet.jobEnded(queryCpKyc, kyc.id)).returnvalue).toEqual({ state: 'sealed' });
    expect(await shown(fleet)).toEqual(['next']);
    expect(await providers(fleet)).toEqual(['next']);
    expect(await findKycState(fleet.sql, 'acme')).toMatchObject({ state: 'sealed' });
  });
});

/** A run that waits for its details, at the address of the former server. */
const openAt = async (use: AsyncDisposableStack, open: (fleet: TestFleet) => Promise<unknown>) => {
  const fleet = await startTestFleet(fleetBackend());
  use.defer(() => fleet.stop());
  const { former, next } = await twoServers(use);
  const gate = await startGate(former.server.url);
  use.defer(() => gate.close());
  await addApplication(fleet.sql, 'acme', webhooksAt(gate.url));
  await fleet.startWorker();
  gate.block(({ operation }) => operation === 'query_game_detail');
  await open(fleet);
  await gate.blocked(1);
  const { run_id } = (await findOpenRun(fleet.sql, 'acme')) as RunRow;
  const move = (webhooks: Partial<ReturnType<typeof webhooksAt>>) => {
    const given = { application_id: 'acme', ...webhooks, access_token: ACCESS_TOKEN };
    return operate(changeApplication, given, KIM, testPlatform(fleet.sql));
  };
  return { fleet, gate, next, run_id, move };
};

test('An open run ends when its application gets other addresses, and stores nothing more; one like it follows', async () => {
  await using use = new AsyncDisposableStack();
  const { fleet, gate, next, run_id, move } = await openAt(use, async ({ sql, producer }) => {
    await insertRefreshes(sql, 'acme', []);
    await addUrgentJobs(sql, producer);
  });
  await move(webhooksAt(next.server.url));
  gate.release();
  expect(await findRun(fleet.sql, run_id)).toMatchObject({
    outcome: 'abandoned',
    reason: 'the addresses of the application were changed',
  });
  const later = (await findOpenRun(fleet.sql, 'acme')) as RunRow;
  await recoverRuns(fleet.sql, fleet.producer, AbortSignal.timeout(9_000), { idleMs: 0 });
  const ended = await fleet.ended(later.run_id);
  expect(ended).toMatchObject({ outcome: 'succeeded', trigger: 'refresh', full: true });
  expect(await shown(fleet)).toEqual(['next']);
});

test('A run that is open when its application gets another address of its KYC record goes on: it does not call that one', async () => {
  await using use = new AsyncDisposableStack();
  const { fleet, gate, next, run_id, move } = await openAt(use, (each) => each.startRun('acme'));
  const { query_cp_kyc_webhook } = webhooksAt(next.server.url);
  await move({ query_cp_kyc_webhook });
  gate.release();
  expect(await fleet.ended(run_id)).toMatchObject({ outcome: 'succeeded' });
  expect(await shown(fleet)).toEqual(['former']);
});
