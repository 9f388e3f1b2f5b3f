import { describe, expect, test } from 'vitest';
import { countPulled, readGamesBefore } from '#db/queries/pulled-games.ts';
import { hasWaitingGames, requestGames } from '#db/queries/refreshes.ts';
import { addUrgentJobs } from '#src/ingest/urgent-jobs.ts';
import { fleetBackend, startTestFleet } from '#test/support/fleet.ts';
import { goodDetail, idsOf, raw, startHostileApplication } from '#test/support/hostile-application.ts';
import { until } from '#test/support/until.ts';

describe('A pull of more games than its application answers at once', () => {
  test('fetches each game once, and its result counts them all', async () => {
    await using use = new AsyncDisposableStack();
    const fleet = await startTestFleet(fleetBackend());
    use.defer(() => fleet.stop());
    const ids = idsOf('g', 10);
    const answered: string[] = [];
    let left = 4;
    await startHostileApplication(
      fleet,
      'acme',
      {
        list: () => ({ data: null }),
        detail: (id) => {
          if (left === 0) {
            left = 4;
            return raw('', 429, { 'retry-after': '0' });
          }
          left -= 1;
          answered.push(id);
          return { data: goodDetail(id) };
        },
      },
      { concurrency: 1 },
    );
    await fleet.startWorker();
    const before = await readGamesBefore(fleet.sql, 'acme', ids);
    await requestGames(fleet.sql, 'acme', ids);
    await until('all are pulled', async () => {
      await addUrgentJobs(fleet.sql, fleet.producer);
      return !(await hasWaitingGames(fleet.sql, 'acme', ids));
    });
    expect(answered.toSorted()).toEqual(ids);
    const counts = await countPulled(fleet.sql, 'acme', before);
    expect(counts).toEqual({ inserted: 10, updated: 0, unchanged: 0, invalid: 0, failed: 0, missing: 0 });
    expect(await fleet.sql`select max(attempts) as attempts from refresh_requests`).toEqual([
      { attempts: null },
    ]);
  });
});
