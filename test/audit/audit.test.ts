import { beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '#db/client.ts';
import { type AuditEntry, listAudit, recordAudit } from '#db/queries/audit.ts';
import { verifyAudit } from '#db/verify-audit.ts';
import { documentOf, runCli } from '#test/support/cli.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

const entry = (changes: Partial<AuditEntry> = {}): AuditEntry => ({
  actor: 'olga',
  actor_kind: 'operator',
  action: 'application.pause',
  subject: 'application:acme',
  reason: 'maintenance',
  ...changes,
});

/** Writes as an attacker who owns the tables and switches the triggers off. */
const tamper = (sql: Database, write: (tx: Database) => Promise<unknown>) =>
  sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await write(tx as unknown as Database);
  });

beforeEach(async () => {
  await tamper(database.sql, async (tx) => {
    await tx`delete from audit_log`;
    await tx`update audit_head set entry_id = 0, hash = decode(repeat('00', 32), 'hex')`;
  });
});

const tenEntries = async (sql: Database) => {
  for (let n = 1; n <= 10; n += 1) await recordAudit(sql, [entry({ details: { n } })]);
};

describe('the audit log', () => {
  test('entries of twenty concurrent writers form one chain without gaps, in the order of commits', async () => {
    const { sql } = database;
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        sql.begin(async (tx) => {
          await tx`select pg_sleep(random() / 100)`;
          await recordAudit(tx, [
            entry({ actor: `a${n}` }),
            entry({ actor: `a${n}`, action: 'application.resume' }),
          ]);
          if (n % 5 === 0) throw new Error('rolled back');
        }),
      ).map((work) => work.catch(() => {})),
    );
    expect(await verifyAudit(sql)).toMatchObject({ entries: 32, broken: null });
    const rows = await listAudit(sql, { limit: 100 });
    expect(rows.map((row) => row.entry_id)).toEqual(Array.from({ length: 32 }, (_, n) => 32 - n));
    // The two entries of one transaction stand side by side.
    for (let n = 0; n < 32; n += 2) expect(rows[n]?.actor).toBe(rows[n + 1]?.actor);
    expect(rows.map((row) => row.at.getTime())).toEqual(
      rows.map((row) => row.at.getTime()).sort((a, b) => b - a),
    );
  });

  test.each([
    [
      'a changed reason',
      4,
      'changed',
      (tx: Database) => tx`update audit_log set reason = 'other' where entry_id = 4`,
    ],
    [
      'a changed detail',
      4,
      'changed',
      (tx: Database) => tx`update audit_log set details = '{"n": 5}' where entry_id = 4`,
    ],
    [
      'a changed time',
      4,
      'changed',
      (tx: Database) => tx`update audit_log set at = at - interval '1 us' where entry_id = 4`,
    ],
    ['a removed entry', 4, 'removed', (tx: Database) => tx`delete from audit_log where entry_id = 4`],
    ['the removed first entry', 1, 'removed', (tx: Database) => tx`delete from audit_log where entry_id = 1`],
    [
      'the removed last entry',
      10,
      'removed',
      (tx: Database) => tx`delete from audit_log where entry_id = 10`,
    ],
    ['all entries removed', 1, 'removed', (tx: Database) => tx`delete from audit_log`],
    ['the removed head', 0, 'removed', (tx: Database) => tx`delete from audit_head`],
    [
      'an inserted last entry',
      11,
      'inserted',
      (tx: Database) => tx`
        insert into audit_log select 11, now(), 'eve', actor_kind, null, action, subject, reason, details, hash, hash
        from audit_log where entry_id = 10`,
    ],
    [
      'an entry put in the place of another, with a right hash of its own',
      4,
      'inserted',
      async (tx: Database) => {
        await tx`update audit_log set actor = 'eve', previous_hash = sha256('x') where entry_id = 4`;
        await tx`update audit_log l set hash = audit_hash(l) where entry_id = 4`;
      },
    ],
    [
      'an entry in the middle, with the later ones moved',
      4,
      'changed',
      async (tx: Database) => {
        await tx`update audit_log set entry_id = entry_id + 100 where entry_id >= 4`;
        await tx`update audit_log set entry_id = entry_id - 99 where entry_id >= 100`;
        await tx`
          insert into audit_log select 4, at, 'eve', actor_kind, null, action, subject, reason, details, hash, hash
          from audit_log where entry_id = 3`;
        await tx`update audit_head set entry_id = 11`;
      },
    ],
  ])('verification finds %s', async (_what, entry_id, problem, write) => {
    const { sql } = database;
    await tenEntries(sql);
    expect((await verifyAudit(sql)).broken).toBeNull();
    await tamper(sql, write);
    expect((await verifyAudit(sql)).broken).toEqual({ entry_id, problem });
    await sql`insert into audit_head values (true, 0, decode(repeat('00', 32), 'hex')) on conflict do nothing`;
  });

  test('a log rewritten as a whole differs from a head that was noted outside', async () => {
    const { sql } = database;
    await tenEntries(sql);
    const { entries, head } = await verifyAudit(sql);
    const noted = { entry_id: entries, hash: head };
    await recordAudit(sql, [entry()]);
    expect((await verifyAudit(sql, noted)).broken).toBeNull();
    await tamper(sql, async (tx) => {
      await tx`delete from audit_log`;
      await tx`update audit_head set entry_id = 0, hash = decode(repeat('00', 32), 'hex')`;
    });
    await tenEntries(sql);
    await recordAudit(sql, [entry()]);
    expect((await verifyAudit(sql)).broken).toBeNull();
    expect((await verifyAudit(sql, noted)).broken).toEqual({ entry_id: 10, problem: 'rewritten' });
  });

  test('finds a change by an owner who replaces the function that makes the hashes', async () => {
    const { sql } = database;
    await tenEntries(sql);
    const undone = new Error('undone');
    const changed = sql.begin(async (tx) => {
      await tx`
        create or replace function audit_hash(entry audit_log) returns bytea language sql stable as 'select entry.hash'`;
      await tx`set local session_replication_role = replica`;
      await tx`update audit_log set actor = 'zed' where entry_id = 4`;
      expect((await verifyAudit(tx)).broken).toEqual({ entry_id: 4, problem: 'changed' });
      throw undone;
    });
    await expect(changed).rejects.toBe(undone);
  });

  test('update, delete and truncate are refused, for the owner too; a forged id or hash is replaced', async () => {
    const { sql } = database;
    await tenEntries(sql);
    for (const write of [
      () => sql`update audit_log set reason = 'other'`,
      () => sql`delete from audit_log where entry_id = 10`,
      () => sql`truncate audit_log`,
      () => sql`update audit_head set entry_id = 3`,
      () => sql`delete from audit_head`,
      () => sql`truncate audit_head`,
    ]) {
      await expect(write()).rejects.toMatchObject({ code: '42501' });
    }
    await sql`
      insert into audit_log values
        (3, now() - interval '1 year', 'eve', 'operator', null, 'x', 'y', null, '{}', sha256('a'), sha256('b'))`;
    const verdict = await verifyAudit(sql);
    expect(verdict).toMatchObject({ entries: 11, broken: null });
  });

  test('text that Postgres cannot store is replaced, long text is cut, and the chain holds', async () => {
    const { sql } = database;
    const hostile = `a\u0000b\ud800c\u202e"'\\u0000`;
    await recordAudit(sql, [
      entry({
        actor: hostile.repeat(100),
        subject: `game:${hostile.repeat(1_000)}`,
        reason: hostile,
        details: { hostile, n: 1e21 },
      }),
    ]);
    const [row] = await listAudit(sql, { limit: 1 });
    expect(row?.reason).toBe(`a\ufffdb\ufffdc\u202e"'\\u0000`);
    expect(row?.actor.length).toBeLessThanOrEqual(200);
    expect((await verifyAudit(sql)).broken).toBeNull();
  });

  test('audit verify exits 1 and names the entry; audit list filters', async () => {
    const { sql, databaseUrl } = database;
    await tenEntries(sql);
    await recordAudit(sql, [entry({ actor: 'kim', action: 'queue.pause', subject: 'queue:tick' })]);
    const env = asOperator(databaseUrl);
    const whole = await runCli(['audit', 'verify', '--json'], env);
    expect(whole.exit).toBe(0);
    expect(documentOf(whole)).toMatchObject({ intact: true, entries: 11, broken: null });
    const listed = documentOf(await runCli(['audit', 'list', '--actor', 'kim', '--json'], env));
    expect(listed.entries).toMatchObject([{ entry_id: 11, actor: 'kim', action: 'queue.pause' }]);
    await tamper(sql, (tx) => tx`delete from audit_log where entry_id = 7`);
    const broken = await runCli(['audit', 'verify'], env);
    expect(broken.exit).toBe(1);
    expect(broken.stderr).toContain('Entry 7 of the audit log was removed.');
  });
});
