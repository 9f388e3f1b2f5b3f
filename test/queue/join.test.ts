import { expect, onTestFinished, test } from 'vitest';
import { pullGameDetail } from '#src/ingest/specs.ts';
import { onBothBackends, startTestFleet } from '#test/support/fleet.ts';
import {
  type Answer,
  goodDetail,
  raw,
  startHostileApplication,
  success,
  wellBehaved,
} from '#test/support/hostile-application.ts';
import { until } from '#test/support/until.ts';

const PULL = { application_id: 'acme', application_game_ids: ['g-1', 'g-2'] };

onBothBackends('Equal pulls', (kind) => {
  test('are one job while it waits; one that runs is not joined, because its calls may be older', async () => {
    const fleet = await startTestFleet(kind);
    onTestFinished(fleet.stop);
    /** Calls that wait for their answer. */
    const waiting: (() => void)[] = [];
    const hold =
      (id: string): Answer =>
      (response) =>
        void waiting.push(() => response.end(success(goodDetail(id))));
    const { calls } = await startHostileApplication(fleet, 'acme', { ...wellBehaved([]), detail: hold });
    const pull = () => fleet.producer.addOrJoin(pullGameDetail, PULL);

    const [first, second] = await Promise.all([pull(), pull()]);
    expect(second.id).toBe(first.id);
    const other = { ...PULL, application_game_ids: ['g-1'] };
    expect((await fleet.producer.addOrJoin(pullGameDetail, other)).id).not.toBe(first.id);

    await fleet.startWorker();
    await until('the calls of both jobs wait', () => waiting.length === 3);
    const later = await Promise.all([pull(), pull(), pull()]);
    expect(later.map(({ id }) => id)).not.toContain(first.id);
    const answering = setInterval(() => {
      for (const answer of waiting.splice(0)) answer();
    }, 10);
    onTestFinished(() => clearInterval(answering));
    const ended = await Promise.all([first, ...later].map(({ id }) => fleet.jobEnded(pullGameDetail, id)));
    for (const { returnvalue } of ended) expect(returnvalue.inserted + returnvalue.unchanged).toBe(2);

    const before = calls.detail;
    const again = await pull();
    expect(await fleet.jobEnded(pullGameDetail, again.id)).toMatchObject({ returnvalue: { unchanged: 2 } });
    expect(calls.detail).toBe(before + 2);
  });

  test('do not join a job that waits for another attempt: it fetches only what it does not have yet', async () => {
    const fleet = await startTestFleet(kind);
    onTestFinished(fleet.stop);
    const detail = () => raw('', 429, { 'retry-after': '600' });
    await startHostileApplication(fleet, 'acme', { ...wellBehaved([]), detail });
    await fleet.startWorker();
    const pull = () => fleet.producer.addOrJoin(pullGameDetail, PULL);
    const first = await pull();
    await until('the pull is postponed', async () => (await first.getState()) === 'delayed');
    expect((await pull()).id).not.toBe(first.id);
  });
});

test('two pulls of one game that come together cost one call, and both callers see its result', async () => {
  const fleet = await startTestFleet('postgres');
  onTestFinished(fleet.stop);
  const { calls } = await startHostileApplication(fleet, 'acme', wellBehaved(['g-1']));
  const pulls = await Promise.all(
    Array.from({ length: 5 }, () =>
      fleet.producer.addOrJoin(pullGameDetail, { ...PULL, application_game_ids: ['g-1'] }),
    ),
  );
  await fleet.startWorker();
  const results = await Promise.all(pulls.map(({ id }) => fleet.jobEnded(pullGameDetail, id)));
  expect(results.map(({ returnvalue }) => returnvalue.inserted)).toEqual([1, 1, 1, 1, 1]);
  expect(calls.detail).toBe(1);
});
