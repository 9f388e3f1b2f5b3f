import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '#db/client.ts';
import { findKycState, reopenErased } from '#db/queries/kyc.ts';
import { queryCpKyc } from '#src/ingest/specs.ts';
import { addUrgentJobs } from '#src/ingest/urgent-jobs.ts';
import { repeatUntilAborted } from '#src/processes/repeat.ts';
import { type RawServer, startRawServer } from '#test/support/application-server.ts';
import { runCli } from '#test/support/cli.ts';
import { addApplication, KIM } from '#test/support/factories.ts';
import { keysText, PLANTED, ringOf } from '#test/support/kyc.ts';
import { startFleet, type TestFleet } from '#test/support/kyc-fleet.ts';
import { eraseKyc } from '#test/support/operate.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const keys = ringOf(['k1']);
const database = useTestDatabase();
let sql: Database;
let server: RawServer;
let fleet: TestFleet;
let env: Record<string, string>;
let cp_id = 'cp-first';
let calls = 0;
let gate: Promise<void> | undefined;
const over = new AbortController();
let stopChore: (() => Promise<void>) | undefined;

beforeAll(async () => {
  sql = database.sql;
  server = await startRawServer(async (request, response) => {
    calls += 1;
    await gate;
    const answer = JSON.stringify({ ret_code: 0, ret_msg: 'success', data: { ...PLANTED, cp_id } });
    request.resume().on('end', () => response.end(answer));
  });
  await addApplication(sql, 'acme', { query_cp_kyc_webhook: server.url }, keys);
  fleet = await startFleet('postgres', { sql, databaseUrl: database.databaseUrl }, [queryCpKyc], keys);
  const adding = repeatUntilAborted(50, over.signal, pino({ level: 'silent' }), 'urgent jobs', () =>
    addUrgentJobs(sql, fleet.producer),
  );
  stopChore = () => {
    over.abort();
    return adding.ended;
  };
  env = {
    ...asOperator(database.databaseUrl),
    ENCRYPTION_KEYS: keysText('k1'),
    CATALOGUE_HOME: '/dev/null/home',
  };
});
afterAll(async () => {
  await stopChore?.();
  await fleet.stop();
  await server.close();
});

const runKyc = (...args: string[]) => runCli(['kyc', ...args, '--json'], env);
const kyc = async (...args: string[]) => {
  const { exit, stdout } = await runKyc(...args);
  return { exit, ...JSON.parse(stdout) };
};

it('an operator pulls a record, sees another cp_id, and accepts it', async () => {
  expect(await kyc('pull', 'acme', '--wait')).toEqual({ exit: 0, application_id: 'acme', state: 'sealed' });
  const first = await kyc('show', 'acme');
  cp_id = 'cp-second';
  expect(await kyc('pull', 'acme', '--wait')).toEqual({
    exit: 3,
    application_id: 'acme',
    state: 'cp_id_changed',
  });
  expect((await runKyc('pull', 'acme', '--wait')).stderr).toContain('npx catalogue kyc show acme');
  expect(await kyc('show', 'acme')).toMatchObject({
    application_cp_id: 'cp-first',
    refused_cp_id: 'cp-second',
  });

  // The cp_id may have changed since the operator looked.
  const accept = (seen: string) => kyc('accept-cp-id', 'acme', '--by', 'kim', '--cp-id', seen);
  expect(await accept('cp-third')).toEqual({
    exit: 1,
    error: expect.stringContaining('waits to be accepted is cp-second, not cp-third'),
  });
  expect(await findKycState(sql, 'acme')).toMatchObject({
    state: 'cp_id_changed',
    refused_cp_id: 'cp-second',
  });
  expect(await kyc('accept-cp-id', 'acme', '--by', 'kim')).toEqual({
    exit: 2,
    error: expect.stringContaining('Name the cp_id that you saw'),
  });
  const accepted = await accept('cp-second');
  expect(accepted).toMatchObject({ exit: 0, application_cp_id: 'cp-second' });
  expect(accepted.cp_id).not.toBe(first.cp_id);
  await expect.poll(async () => (await findKycState(sql, 'acme'))?.state).toBe('sealed');
  expect(await kyc('show', 'acme')).toMatchObject({
    application_cp_id: 'cp-second',
    refused_cp_id: null,
    former_versions: 1,
  });
});

it('an erased record is pulled again by an operator, and not by a schedule', async () => {
  await kyc('erase', 'acme', '--by', 'kim', '--reason', 'request');
  expect(await fleet.finish(queryCpKyc, { application_id: 'acme' })).toEqual({
    result: { skipped: 'erased' },
  });
  expect(await kyc('pull', 'acme', '--wait')).toEqual({
    exit: 2,
    error: expect.stringContaining('give a reason'),
  });
  expect(await kyc('pull', 'acme', '--wait', '--by', 'kim', '--reason', '  ')).toMatchObject({ exit: 2 });
  expect(await findKycState(sql, 'acme')).toMatchObject({ state: 'erased' });
  const given = ['--by', 'kim', '--reason', 'asked for it'];
  expect(await kyc('pull', 'acme', '--wait', ...given)).toEqual({
    exit: 0,
    application_id: 'acme',
    state: 'sealed',
  });
  expect(
    await sql`select actor, action, subject, reason from audit_log where reason is not null and action = 'kyc.pull'`,
  ).toEqual([{ actor: 'kim', action: 'kyc.pull', subject: 'application:acme', reason: 'asked for it' }]);
});

it('a record that was erased and requested again while it was pulled is pulled once more', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  gate = promise;
  const before = calls;
  const pulled = fleet.finish(queryCpKyc, { application_id: 'acme' });
  await expect.poll(() => calls).toBe(before + 1);
  // Not as a process: the call that waits times out.
  await eraseKyc(sql, 'acme', { ...KIM, reason: 'request' });
  await reopenErased(sql, 'acme');
  gate = undefined;
  resolve();
  expect(await pulled).toEqual({ result: { state: 'overtaken' } });
  await expect.poll(() => findKycState(sql, 'acme')).toMatchObject({ state: 'sealed', requested_at: null });
  expect(calls).toBe(before + 2);
});
