import { beforeAll, beforeEach, describe, expect, it, onTestFinished, test } from 'vitest';
import type { Database } from '#db/client.ts';
import { findKycRecord } from '#db/queries/kyc.ts';
import { maskValue } from '#src/kyc/mask.ts';
import { showKyc } from '#src/kyc/read-record.ts';
import type { KeyProvider } from '#src/sealing/key-provider.ts';
import { runCli } from '#test/support/cli.ts';
import { addApplication, KIM } from '#test/support/factories.ts';
import { keysText, PLANTED, ringOf, store } from '#test/support/kyc.ts';
import { revealKyc } from '#test/support/operate.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const keys = ringOf(['k1']);
const database = useTestDatabase();
let sql: Database;
let env: Record<string, string>;

beforeAll(async () => {
  sql = database.sql;
  // A home that can't be made: the command line works from ENCRYPTION_KEYS alone.
  env = {
    ...asOperator(database.databaseUrl),
    ENCRYPTION_KEYS: keysText('k1'),
    CATALOGUE_HOME: '/dev/null/home',
  };
  await addApplication(sql, 'acme', {}, keys);
  await store(sql, keys, 'acme', PLANTED);
});
beforeEach(() => sql`truncate kyc_access_log`.then(() => {}));

const { cp_id: _cp_id, ...FIELDS } = PLANTED;
const logRows = () => sql`select application_id, record_id, action, accessed_by, reason from kyc_access_log`;
const expectNoValue = (text: string) => {
  for (const value of Object.values(FIELDS)) expect(text).not.toContain(value);
};

describe('masking', () => {
  it.each([
    ['cp_name', 'Canary Holding 5d2e Limited', 'Cana••••'],
    ['tax_id', 'CNRY-TAX-55120934', '••••0934'],
    ['id_type', 'passport', 'pa••••'],
    ['id_number', '123', '••••'],
    ['cp_short_name', '', ''],
    ['cp_name', '👨‍👩‍👧‍👦家族ゲームス', '👨‍👩‍👧‍👦••••'],
  ] as const)('shows of %s "%s" no more than %s', (field, value, masked) => {
    expect(maskValue(field, value)).toBe(masked);
  });
});

describe('kyc show', () => {
  it('is masked, and leaves no trace in the log', async () => {
    const { exit, stdout, stderr } = await runCli(['kyc', 'show', 'acme', '--json'], env);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expectNoValue(stdout);
    const shown = JSON.parse(stdout);
    expect(shown).toMatchObject({
      application_id: 'acme',
      state: 'sealed',
      application_cp_id: PLANTED.cp_id,
      former_versions: 0,
    });
    expect(shown.record.tax_id).toBe('••••0934');
    expect(await logRows()).toHaveLength(0);
  });

  it('shows nothing of a record that does not open, and says which key is missing', async () => {
    const result = await runCli(['kyc', 'show', 'acme'], { ...env, ENCRYPTION_KEYS: keysText('k9') });
    expect(result.exit).toBe(1);
    expect(result.stderr).toContain('is sealed under key k1, which this process does not have (it has: k9)');
    expectNoValue(result.stdout + result.stderr);
  });

  it('ends with exit 2 when ENCRYPTION_KEYS is malformed, or there is no such application', async () => {
    const malformed = await runCli(['kyc', 'show', 'acme'], { ...env, ENCRYPTION_KEYS: 'not-a-key' });
    expect(malformed.exit).toBe(2);
    expect(malformed.stderr).not.toContain('not-a-key');
    expect((await runCli(['kyc', 'show', 'nobody'], env)).exit).toBe(2);
  });
});

describe('kyc show --reveal', () => {
  const reveal = (...more: string[]) => runCli(['kyc', 'show', 'acme', '--reveal', '--json', ...more], env);
  const accountable = ['--by', 'kim', '--reason', 'ticket 4711'];

  it.each([
    ['a name', ['--reason', 'ticket 4711']],
    ['a reason', ['--by', 'kim']],
    ['either', []],
    ['a name that says something', ['--by', ' ', '--reason', 'ticket 4711']],
  ])('is refused without %s', async (_title, more) => {
    const { exit, stdout, stderr } = await reveal(...more);
    expect(exit).toBe(2);
    expectNoValue(stdout + stderr);
    expect(await logRows()).toHaveLength(0);
  });

  it('prints the record and leaves one row in the log, without values', async () => {
    const { exit, stdout } = await reveal(...accountable);
    expect(exit).toBe(0);
    expect(JSON.parse(stdout).record).toEqual(FIELDS);
    const row = await findKycRecord(sql, 'acme');
    expect(await logRows()).toEqual([
      {
        application_id: 'acme',
        record_id: row?.record_id,
        action: 'reveal',
        accessed_by: 'kim',
        reason: 'ticket 4711',
      },
    ]);
  });

  it('prints nothing when the log refuses the row', async () => {
    await sql`alter table kyc_access_log add constraint closed check (false) not valid`;
    try {
      const { exit, stdout, stderr } = await reveal(...accountable);
      expect(exit).toBe(1);
      expectNoValue(stdout + stderr);
    } finally {
      await sql`alter table kyc_access_log drop constraint closed`;
    }
  });

  it('prints nothing when the database takes no writes at all', async () => {
    const readOnly = new URL(env.DATABASE_URL as string);
    readOnly.searchParams.set('default_transaction_read_only', 'on');
    const result = await runCli(['kyc', 'show', 'acme', '--reveal', ...accountable], {
      ...env,
      ...asOperator(readOnly.href),
    });
    expect(result.exit).toBe(1);
    expect(result.stderr).toContain('read-only');
    expectNoValue(result.stdout + result.stderr);
  });

  it('opens nothing before the log has the row', async () => {
    let unwraps = 0;
    const [k1] = keys.records as [KeyProvider];
    const counting: KeyProvider = {
      ...k1,
      unwrap: (...given) => k1.unwrap(...given).finally(() => (unwraps += 1)),
    };
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    onTestFinished(() => release());
    const locking = sql.begin(async (tx) => {
      await tx`lock table kyc_access_log in exclusive mode`;
      await released;
    });
    const waiting = () =>
      sql`select 1 from pg_locks where relation = 'kyc_access_log'::regclass and not granted`;
    const locked = () =>
      sql`select 1 from pg_locks where relation = 'kyc_access_log'::regclass and mode = 'ExclusiveLock'`;
    await expect.poll(locked).toHaveLength(1);
    const ring = { records: [counting], tokens: [] };
    const revealing = revealKyc(sql, ring, 'acme', { ...KIM, reason: 'ticket 4711' });
    await expect.poll(waiting).toHaveLength(1);
    // Whatever does not wait for the log has the time of this statement to go on.
    await sql`select count(*) from pg_locks`;
    expect(unwraps).toBe(0);
    release();
    await locking;
    expect((await revealing).record).toEqual(FIELDS);
    expect(unwraps).toBe(1);
  });

  it('is logged even when the record then does not open', async () => {
    const wrong = { ...env, ENCRYPTION_KEYS: keysText('k9') };
    const { exit } = await runCli(['kyc', 'show', 'acme', '--reveal', ...accountable], wrong);
    expect(exit).toBe(1);
    expect(await logRows()).toHaveLength(1);
  });
});

describe('kyc erase', () => {
  it('needs a name and a reason, then leaves nothing to reveal', async () => {
    expect((await runCli(['kyc', 'erase', 'acme', '--by', 'kim'], env)).exit).toBe(2);
    const erased = await runCli(
      ['kyc', 'erase', 'acme', '--by', 'kim', '--reason', 'request', '--json'],
      env,
    );
    expect(JSON.parse(erased.stdout)).toEqual({ application_id: 'acme', erased: 1 });
    // The reveals of the tests before stand in the audit log too; no entry holds a value.
    const entries = await sql<{ action: string; actor: string; os_user: string | null }[]>`
      select action, actor, os_user, reason, details from audit_log order by entry_id desc`;
    expect(entries.slice(0, 2).map(({ action }) => action)).toEqual(['kyc.erase', 'kyc.reveal']);
    expect(entries[0]).toMatchObject({ actor: 'kim', reason: 'request', os_user: expect.any(String) });
    for (const value of Object.values(FIELDS)) expect(JSON.stringify(entries)).not.toContain(value);
    const shown = await runCli(['kyc', 'show', 'acme', '--json'], env);
    expect(JSON.parse(shown.stdout)).toMatchObject({ state: 'erased', record: null });
  });
});

test('kyc show reads the record and what is known of it at one moment, while pulls replace it', async () => {
  await addApplication(sql, 'moving', {}, keys);
  const nameOf = new Map<string, string>();
  const replace = async (n: number): Promise<void> => {
    await store(sql, keys, 'moving', {
      ...PLANTED,
      cp_id: 'cp-moving',
      cp_name: `${1_000 + n} Holding of many games Limited`,
    });
    const [row] = await sql<
      { record_id: string }[]
    >`select record_id from kyc_records where application_id = 'moving'`;
    nameOf.set(row?.record_id ?? '', `${1_000 + n}••••`);
  };
  await replace(0);
  let isDone = false;
  const pulling = (async () => {
    for (let n = 1; n <= 60; n += 1) await replace(n);
    isDone = true;
  })();
  const seen: [string, string | undefined][] = [];
  while (!isDone) {
    const { record_id, record } = await showKyc(sql, keys, 'moving');
    seen.push([record_id ?? '', record?.cp_name]);
  }
  await pulling;
  expect(seen.filter(([record_id, cp_name]) => nameOf.get(record_id) !== cp_name)).toEqual([]);
});
