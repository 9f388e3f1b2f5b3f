// What was accepted is in Postgres until its result is: a queue that is lost at any moment loses none of it.
import { expect, onTestFinished, test } from 'vitest';
import { findKycState } from '#db/queries/kyc.ts';
import { insertRefreshes } from '#db/queries/refreshes.ts';
import { addUrgentJobs } from '#src/ingest/urgent-jobs.ts';
import { pullKycRecord } from '#src/operations/kyc.ts';
import { pullGames } from '#src/operations/pull-games.ts';
import { KIM, moveWebhooks, webhooksAt } from '#test/support/factories.ts';
import { onBothBackends, startTestFleet } from '#test/support/fleet.ts';
import { startGate } from '#test/support/gate.ts';
import { operateAs } from '#test/support/operate.ts';
import { until } from '#test/support/until.ts';

const PHASES = ['before a job was added', 'while a job waits', 'while calls are in flight'] as const;

onBothBackends('A ping, a pull and a KYC pull that were accepted', (kind) => {
  test.for(PHASES)('are done although the queue is lost %s', async (phase) => {
    const fleet = await startTestFleet(kind);
    onTestFinished(fleet.stop);
    const { server } = await fleet.addApplication('acme', 4);
    const games = server.games.all();
    const first = await fleet.startWorker();
    await fleet.sync('acme');
    await first.stop(5_000);
    const gate = await startGate(server.url);
    onTestFinished(() => gate.close());
    await moveWebhooks(fleet.sql, 'acme', webhooksAt(gate.url));
    const [pinged, alsoPinged, pulled] = games.map(({ game_id }) => game_id) as [string, string, string];
    for (const game_id of [pinged, alsoPinged, pulled])
      server.games.update(game_id, { game_info: 'Changed.' });

    await insertRefreshes(fleet.sql, 'acme', [pinged, alsoPinged]);
    const application_id = 'acme';
    await operateAs(fleet.sql, KIM, pullGames, { application_id, application_game_ids: [pulled] });
    await operateAs(fleet.sql, KIM, pullKycRecord, { application_id });
    if (phase !== 'before a job was added') await addUrgentJobs(fleet.sql, fleet.producer);
    if (phase === 'while calls are in flight') {
      gate.block(() => true);
      await fleet.startWorker();
      await gate.blocked(4);
      await fleet.flushQueue();
      gate.release();
    } else {
      await fleet.flushQueue();
      await fleet.startWorker();
    }
    await until('all are done', async () => {
      await addUrgentJobs(fleet.sql, fleet.producer);
      const changed = await fleet.sql`select from games where game_desc = 'Changed.'`;
      const kyc = await findKycState(fleet.sql, 'acme');
      return changed.length === 3 && kyc?.state === 'sealed' && kyc.requested_at === null;
    });
    expect(await fleet.sql`select from refresh_requests`).toHaveLength(0);
  });
});
