// The version of the record that `kyc verdict` decides on is one that the officer has seen.
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { findKycRecord } from '#db/queries/kyc.ts';
import { findLastVerdict } from '#db/queries/verdicts.ts';
import { approve } from '#src/operations/requests.ts';
import { addOperators, answerBy, askBy } from '#test/support/approvals.ts';
import { documentOf, runCli } from '#test/support/cli.ts';
import { addApplication } from '#test/support/factories.ts';
import { keysText, PLANTED, ringOf, store } from '#test/support/kyc.ts';
import { asOperator } from '#test/support/roles.ts';
import { openTerminal, terminalTest } from '#test/support/terminal.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const keys = ringOf(['k1']);
const database = useTestDatabase();
let env: Record<string, string>;

const pull = (changes: object = {}) => store(database.sql, keys, 'acme', { ...PLANTED, ...changes });
const recordId = async () => (await findKycRecord(database.sql, 'acme'))?.record_id ?? '';
const last = () => findLastVerdict(database.sql, 'acme');
const verdict = async (...more: string[]) => {
  const args = ['kyc', 'verdict', 'acme', 'verified', '--by', 'kim', '--reason', 'ticket 4711', '--json'];
  const result = await runCli([...args, ...more], env);
  return { exit: result.exit, ...documentOf(result) };
};

beforeAll(async () => {
  env = {
    ...asOperator(database.databaseUrl),
    ENCRYPTION_KEYS: keysText('k1'),
    CATALOGUE_HOME: '/dev/null/home',
  };
  await addApplication(database.sql, 'acme', {}, keys);
  await pull();
});

test('without a terminal the record is named, as kyc show prints it', async () => {
  const { record_id } = documentOf(await runCli(['kyc', 'show', 'acme', '--json'], env));
  expect(await verdict()).toEqual({
    exit: 2,
    error: expect.stringMatching(
      /Name the record that you saw \(.*kyc show acme prints its record_id\).*--record/,
    ),
  });
  await pull({ tax_id: 'another' });
  expect(await verdict('--record', record_id)).toEqual({
    exit: 1,
    error: expect.stringContaining('has changed since it was shown'),
  });
  expect(await last()).toBeUndefined();
  expect(await verdict('--record', await recordId())).toMatchObject({ exit: 0, verdict: 'verified' });
});

test('an application that is not registered is named', async () => {
  const args = ['kyc', 'verdict', 'acmee', 'verified', '--by', 'kim', '--reason', 'ticket', '--json'];
  const result = await runCli(args, env);
  expect({ exit: result.exit, ...documentOf(result) }).toEqual({
    exit: 2,
    error: expect.stringMatching(/^There is no application "acmee"/),
  });
});

terminalTest('on a terminal the masked record is shown, and the answer is on that one', async () => {
  const terminal = await openTerminal({ columns: 100, env });
  onTestFinished(() => terminal.close());
  const ask = async (screen: string) => {
    await terminal.type(
      'clear; catalogue kyc verdict acme refused --by kim --reason "ticket 4712"; echo "[exit $?]"',
    );
    await until(`the screen shows ${screen}`, async () => (await terminal.screen()).includes(screen));
  };
  const answer = async (key: string, then: string) => {
    await terminal.type(key);
    await until(`the screen shows ${then}`, async () => (await terminal.screen()).includes(then));
  };
  const question = 'Give the verdict refused on this record?';
  await ask(question);
  expect(await terminal.screen()).toContain(`record_id: ${await recordId()}`);
  expect(await terminal.screen()).toContain('cp_name: Cana••••');
  await pull({ tax_id: 'a third one' });
  await answer('y', 'has changed since it was shown');
  await ask(question);
  await answer('n', 'Nothing was decided.');
  expect(await last()).toMatchObject({ verdict: 'verified', state: 'changed' });
  await ask(question);
  await answer('y', '[exit 0]');
  expect(await last()).toMatchObject({ verdict: 'refused', state: 'standing' });
});

test('an approval names the record by itself', async () => {
  const { sql } = database;
  await addOperators(sql, { kim: ['kyc_officer'], lee: ['kyc_officer'] });
  const asked = { kind: 'verdict', subject: 'application:acme', verdict: 'verified', reason: 'why' } as const;
  const { approval_id } = await askBy(sql, 'kim', asked);
  await answerBy(sql, 'lee', approve, approval_id);
  expect(await verdict('--approval', approval_id)).toMatchObject({ exit: 0, verdict: 'verified' });
});
