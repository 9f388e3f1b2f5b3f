import { describe, expect, test } from 'vitest';
import { pullGameDetail } from '#src/ingest/specs.ts';
import { fleetBackend, startTestFleet } from '#test/support/fleet.ts';
import { goodDetail, idsOf, raw, startHostileApplication } from '#test/support/hostile-application.ts';

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
    const payload = { application_id: 'acme', application_game_ids: ids };
    const { id } = await fleet.producer.add(pullGameDetail, payload);
    const { returnvalue } = await fleet.jobEnded(pullGameDetail, id);
    expect(answered.toSorted()).toEqual(ids);
    expect(returnvalue).toEqual({ inserted: 10, updated: 0, unchanged: 0, invalid: 0, missing: 0 });
  });
});
