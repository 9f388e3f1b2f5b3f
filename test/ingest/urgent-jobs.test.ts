import { expect, it } from 'vitest';
import { requestKycPull } from '#db/queries/kyc.ts';
import { insertRefreshes, requestGames } from '#db/queries/refreshes.ts';
import { pullGameDetail, queryCpKyc } from '#src/ingest/specs.ts';
import { addUrgentJobs } from '#src/ingest/urgent-jobs.ts';
import { addApplication, anOpenRun } from '#test/support/factories.ts';
import { fleetBackend, useTestFleet } from '#test/support/fleet.ts';

const fleet = useTestFleet(fleetBackend());
const BATCH = 2;
const IDS = ['first', 'second', 'third'] as const;

const waiting = async (spec: { name: string }): Promise<string[]> => {
  const jobs = await fleet.producer.queue(spec).getJobs('waiting');
  return jobs.map(({ data }) => data.application_id).sort();
};

it('Applications whose job waits keep no later one from its own: a call goes on after those of the call before', async () => {
  for (const id of IDS) {
    await addApplication(fleet.sql, id);
    await requestKycPull(fleet.sql, id);
  }
  const after = await addUrgentJobs(fleet.sql, fleet.producer, { batch: BATCH });
  expect(await waiting(queryCpKyc)).toEqual(['first', 'second']);
  expect(await addUrgentJobs(fleet.sql, fleet.producer, { batch: BATCH, after })).toBeUndefined();
  expect(await waiting(queryCpKyc)).toEqual(['first', 'second', 'third']);
});

it('Lists that cannot be read yet keep no game from its pull', async () => {
  for (const id of ['opened', 'just-read']) {
    await addApplication(fleet.sql, id);
    await insertRefreshes(fleet.sql, id, []);
    await anOpenRun(fleet.sql, id);
  }
  await fleet.sql`
    update sync_runs set trigger = 'refresh', finished_at = now(), outcome = 'succeeded'
    where application_id = 'just-read'`;
  await requestGames(fleet.sql, 'third', ['g-1']);
  await fleet.sql`insert into refresh_turns (application_id, next_at) values ('third', now())`;
  await addUrgentJobs(fleet.sql, fleet.producer, { batch: BATCH });
  expect(await waiting(pullGameDetail)).toEqual(['third']);
});
