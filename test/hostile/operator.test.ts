import { createHash } from 'node:crypto';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { recordHeartbeat } from '#db/queries/workers.ts';
import { addUrgentJobs } from '#src/ingest/urgent-jobs.ts';
import { repeatUntilAborted } from '#src/processes/repeat.ts';
import { startSampleApplication } from '#src/sample-application/start.ts';
import { documentOf, runCli } from '#test/support/cli.ts';
import { ACCESS_TOKEN, addApplication, webhooksAt } from '#test/support/factories.ts';
import type { TestFleet } from '#test/support/fleet.ts';
import {
  aFleet,
  goodDetail,
  goodRow,
  idsOf,
  raw,
  startHostileApplication,
  success,
  wellBehaved,
} from '#test/support/hostile-application.ts';
import { asOperator } from '#test/support/roles.ts';

/** The key that the tests' access tokens are sealed under. */
const TEST_KEY = createHash('sha256').update('the key of the tests').digest('base64');

/** The command line beside a fleet whose worker, with its chore that adds jobs for requested games, runs in this process. */
const commandsOf = async (fleet: TestFleet) => {
  const over = new AbortController();
  const adding = repeatUntilAborted(50, over.signal, pino({ level: 'silent' }), 'urgent jobs', () =>
    addUrgentJobs(fleet.sql, fleet.producer),
  );
  onTestFinished(async () => {
    over.abort();
    await adding.ended;
  });
  await recordHeartbeat(fleet.sql, {
    worker_id: '019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b',
    host: 'here',
    pid: 1,
    queue: 'Postgres',
  });
  const env = {
    ...asOperator(fleet.databaseUrl),
    ...(fleet.redisUrl !== undefined && { REDIS_URL: fleet.redisUrl }),
    QUEUE_PREFIX: fleet.prefix,
    ENCRYPTION_KEYS: `test:${TEST_KEY}`,
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
  };
  const say = (...args: string[]) => runCli(args, env);
  const ask = async (...args: string[]) => {
    const result = await runCli([...args, '--json'], env);
    return { exit: result.exit, answer: documentOf(result), stderr: result.stderr };
  };
  return { say, ask };
};

test('an operator reads which games failed and why, repairs the application, and retries', async () => {
  const fleet = await aFleet();
  const { say, ask } = await commandsOf(fleet);
  const [first = '', second = '', third = ''] = idsOf('g', 3);
  const application = await startHostileApplication(fleet, 'acme', {
    list: (pageNum) => ({
      data: {
        total: 3,
        list: pageNum === 1 ? [goodRow(first), goodRow(second), { ...goodRow(third), game_icon: null }] : [],
      },
    }),
    detail: (id) => ({ data: { ...goodDetail(id), ...(id === second ? { game_name: 'a\u0000' } : {}) } }),
  });
  const synced = await ask('sync', 'acme', '--wait');
  expect(synced).toMatchObject({
    exit: 3,
    answer: { runs: [{ outcome: 'partial', inserted: 1, invalid: 2 }] },
  });
  expect(synced.answer.runs[0].reason).toBe('2 invalid, 0 failed: see failure list');
  expect(synced.stderr).toContain('acme: 2 invalid');

  const { answer } = await ask('failure', 'list', 'acme');
  expect(answer.failures).toMatchObject([
    {
      application_id: 'acme',
      operation: 'query_game_detail',
      application_game_id: second,
      kind: 'invalid_data',
      reasons: [{ path: 'game_name', code: 'not_storable' }],
      count: 1,
    },
    {
      operation: 'query_game_list',
      application_game_id: third,
      kind: 'invalid_item',
      reasons: [{ path: 'game_icon', code: 'invalid_type' }],
    },
  ]);
  expect((await say('failure', 'list')).stdout).toMatch(/game_name: not_storable/);

  expect(await ask('failure', 'retry', 'acme', '--wait')).toMatchObject({
    exit: 3,
    answer: { inserted: 1, invalid: 1 },
  });
  const again = await ask('failure', 'list', 'acme');
  expect(again.answer.failures).toMatchObject([{ application_game_id: second, count: 2 }, { count: 1 }]);

  application.behaviour = wellBehaved([first, second, third]);
  expect(await ask('failure', 'retry', 'acme', '--wait')).toMatchObject({ exit: 0 });
  expect(await ask('sync', 'acme', '--wait')).toMatchObject({ exit: 0 });
  expect((await ask('failure', 'list', 'acme')).answer.failures).toEqual([]);
  expect(await ask('failure', 'retry', 'acme')).toMatchObject({ exit: 0, answer: { games: 0 } });
});

test('many games pulled by hand are no more calls at once than their application allows', async () => {
  const fleet = await aFleet();
  const { ask } = await commandsOf(fleet);
  const games = idsOf('g', 250);
  let [inHand, most] = [0, 0];
  await startHostileApplication(
    fleet,
    'acme',
    {
      ...wellBehaved(games),
      detail: (id) => (response) => {
        inHand += 1;
        most = Math.max(most, inHand);
        setTimeout(() => {
          inHand -= 1;
          response.end(success(goodDetail(id)));
        }, 5);
      },
    },
    { concurrency: 4, rate: 1_000 },
  );
  expect(await ask('pull', 'acme', ...games, '--wait')).toMatchObject({
    exit: 0,
    answer: { inserted: 250 },
  });
  expect(most).toBe(4);
});

test('app list and app show say why an application is not called, and resume clears the backoff', async () => {
  const fleet = await aFleet();
  const { say, ask } = await commandsOf(fleet);
  await addApplication(fleet.sql, 'acme');
  await fleet.sql`
    update applications set status = 'paused', failed_runs = 12, failing_since = '2026-03-01T00:00:00Z',
                            pause_reason = '12 runs in a row failed'`;
  expect((await say('app', 'list')).stdout).toMatch(/paused .*12 runs in a row failed/);
  expect(await ask('app', 'show', 'acme')).toMatchObject({
    answer: {
      status: 'paused',
      reason: '12 runs in a row failed',
      failed_runs: 12,
      failing_since: '2026-03-01T00:00:00.000Z',
      next_attempt_at: null,
    },
  });
  expect(await ask('app', 'resume', 'acme')).toMatchObject({ exit: 0, answer: { status: 'active' } });
  expect(await ask('app', 'show', 'acme')).toMatchObject({
    answer: { status: 'active', reason: null, failed_runs: 0, failing_since: null },
  });

  await fleet.sql`update applications set failed_runs = 2, failing_since = now() - interval '3 days',
                                          next_attempt_at = now() + interval '2 hours'`;
  expect((await say('app', 'list')).stdout).toMatch(/failing for 3 days; next attempt in [12] hours?/);
});

test('app check passes the sample application, and shows a broken one what is wrong', async () => {
  const fleet = await aFleet();
  const { say, ask } = await commandsOf(fleet);
  const sample = await startSampleApplication({ accessToken: ACCESS_TOKEN, games: 30, seed: 'check' });
  onTestFinished(() => sample.close());
  await addApplication(fleet.sql, 'sample', webhooksAt(sample.url));
  const passed = await ask('app', 'check', 'sample');
  expect(passed).toMatchObject({ exit: 0, answer: { application_id: 'sample', failed: 0, skipped: 0 } });
  expect(passed.answer.cases).toHaveLength(passed.answer.passed);

  await startHostileApplication(fleet, 'broken', {
    ...wellBehaved(idsOf('g', 3)),
    detail: () => raw(`<html>\u001b[31m ${ACCESS_TOKEN}</html>`),
  });
  const { exit, stdout, stderr } = await say('app', 'check', 'broken');
  expect(exit).toBe(3);
  expect(stdout).toMatch(
    /FAILED {3}detail\.envelope: the response is not JSON: it begins with "<html>.*\[access token\]<\/html>"\n +sent: POST query_game_detail \{"game_id":"g-0000"\} with its token\n +came: HTTP 200 not_json: it begins with .*\n +rule: .*\n +section 4 says: Every response is a JSON object/,
  );
  expect(stdout).toMatch(/FAILED {3}list\.page-size: /);
  expect(stdout).toMatch(/\d+ passed, \d+ failed, \d+ skipped\n$/);
  expect(stdout + stderr + JSON.stringify(passed)).not.toContain(ACCESS_TOKEN);
});
