// What is removed or erased stays so, whatever a stolen login writes.
import { beforeEach, expect, it } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { DATABASE_ROLES } from '#db/roles.ts';
import { INSUFFICIENT_PRIVILEGE } from '#db/sqlstate.ts';
import { useStolenLogins } from '#test/privilege/support.ts';
import { untilBlocked } from '#test/support/blocked.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { PLANTED, ringOf, store } from '#test/support/kyc.ts';
import { decideGame, eraseKyc, KIM, removeApplication } from '#test/support/operate.ts';
import { until } from '#test/support/until.ts';

const { database, attempt, expectRefused } = useStolenLogins();
let game_id: string;
const isSleeping = async (): Promise<boolean> =>
  (
    await database.sql`
      select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`
  ).length > 0;

beforeEach(async () => {
  const { sql } = database;
  await sql`truncate applications, games, events cascade`;
  for (const id of ['acme', 'beta']) await addApplication(sql, id);
  const game = fetchedGame();
  game_id = game.game_id;
  await upsertGames(sql, 'acme', [game]);
});

it('a stolen worker removes no application and adds none again', async () => {
  await expectRefused('worker', ["update applications set status = 'removed'"]);
  await database.sql`update applications set status = 'removed' where application_id = 'acme'`;
  await expectRefused('worker', ["update applications set status = 'active' where application_id = 'acme'"]);
  expect(
    await attempt('worker', "update applications set status = 'paused' where application_id = 'beta'"),
  ).toBe(1);
});

it('no stolen login brings back a game of a removed application, which would be live again', async () => {
  const { sql } = database;
  await decideGame(sql, { game_id, audit_status: 'passed' });
  const back = ['update games set withdrawn_at = null'];
  await sql`update games set withdrawn_at = now()`;
  for (const statement of back) expect(await attempt('worker', statement, false)).toBe(1);
  await sql`update applications set status = 'removed' where application_id = 'acme'`;
  for (const role of DATABASE_ROLES) await expectRefused(role, back);
});

it('no role passes a game that a stolen worker adds to a removed application', async () => {
  const { sql } = database;
  await sql`update applications set status = 'removed' where application_id = 'acme'`;
  await upsertGames(database.as('worker'), 'acme', [fetchedGame({ game_id: 'late' })]);
  const pass =
    "update games set audit_status = 'passed', audit_time = now() where application_game_id = 'late'";
  await expect(database.as('console').unsafe(pass)).rejects.toMatchObject({ code: 'GC001' });
});

it('a removal also withdraws a game that a stolen worker is about to bring back', async () => {
  const { sql } = database;
  await decideGame(sql, { game_id, audit_status: 'passed' });
  await sql`update games set withdrawn_at = now()`;
  let removed: Promise<unknown> | undefined;
  await database.as('worker').begin(async (tx) => {
    await tx`update games set withdrawn_at = null`;
    removed = removeApplication(sql, 'acme');
    await Promise.race([removed, untilBlocked(database.sql)]);
  });
  await removed;
  expect(await sql`select from games where withdrawn_at is null`).toEqual([]);
});

it.each([
  ['update games set withdrawn_at = null where pg_sleep(1) is not null', 'read committed'],
  ['select count(*) from games, pg_sleep(1); update games set withdrawn_at = null', 'repeatable read'],
])(
  'a game of a removed application does not come back by a statement that began before: %s',
  async (statement, level) => {
    const { sql } = database;
    await sql`update games set withdrawn_at = now()`;
    const stolen = database.as('worker').begin(`isolation level ${level}`, (tx) => tx.unsafe(statement));
    const refused = expect(stolen).rejects.toMatchObject({ code: INSUFFICIENT_PRIVILEGE });
    await until('the statement sleeps', isSleeping);
    await removeApplication(sql, 'acme');
    await refused;
  },
);

it('a removal waits for a game that waits for review and that a stolen worker is about to bring back', async () => {
  const { sql } = database;
  await sql`update games set withdrawn_at = now()`;
  let removed: Promise<unknown> | undefined;
  await database.as('worker').begin(async (tx) => {
    await tx`update games set withdrawn_at = null`;
    removed = removeApplication(sql, 'acme');
    await untilBlocked(database.sql);
  });
  await removed;
  expect(await sql`select from games where withdrawn_at is null`).toEqual([]);
});

it('a record is not hidden as erased by a statement that began while its application was removed', async () => {
  const { sql } = database;
  await store(sql, ringOf(['k1']), 'acme', PLANTED);
  await sql`update applications set status = 'removed' where application_id = 'acme'`;
  const stolen = database.as('worker')`update kyc_states set state = 'erased' where pg_sleep(1) is not null`;
  const refused = expect(stolen).rejects.toMatchObject({ code: INSUFFICIENT_PRIVILEGE });
  await until('the statement sleeps', isSleeping);
  await sql`update applications set status = 'active' where application_id = 'acme'`;
  await refused;
});

it.each(['first', 'next'])(
  'an erasure also deletes a %s record that a stolen worker is about to store',
  async (record) => {
    const { sql } = database;
    await store(sql, ringOf(['k1']), 'acme', PLANTED);
    // As before the first pull.
    if (record === 'first') await sql`delete from kyc_states`;
    let erased: Promise<number> | undefined;
    await database.as('worker').begin(async (tx) => {
      await tx`with former as (delete from kyc_records returning *) insert into kyc_records select * from former`;
      erased = eraseKyc(
        sql,
        'acme',
        { ...KIM.actor, reason: 'request' },
        { fourEyes: { kinds: [], onceTwo: false } },
      );
      await untilBlocked(database.sql);
    });
    expect(await erased).toBe(1);
    expect(await sql`select from kyc_records`).toEqual([]);
  },
);

it('a stolen worker or operator API neither hides a KYC record as erased nor has an erased one pulled again', async () => {
  const { sql } = database;
  for (const cp_name of ['Former', 'Latest'])
    await store(sql, ringOf(['k1']), 'acme', { ...PLANTED, cp_name });
  for (const role of ['worker', 'operator_api'] as const)
    await expectRefused(role, [
      "update kyc_states set state = 'erased'",
      "insert into kyc_states (application_id, state) values ('beta', 'erased')",
      "insert into kyc_states (application_id) values ('acme') on conflict (application_id) do update set state = 'erased'",
      // The state of a removed application, which is erased, or of one that is not.
      "update kyc_states set application_id = 'beta'",
    ]);
  // Its `replaced_at` ends a verdict.
  await expectRefused('worker', ["update content_providers set application_cp_id = 'another'"]);
  const set = (state: string) => `update kyc_states set state = '${state}'`;
  expect(await attempt('kyc_desk', set('erased'))).toBe(1);
  await expectRefused('worker', [
    set('pending'),
    // The state would go on saying that nothing is stored.
    'with former as (delete from kyc_records returning *) insert into kyc_records select * from former',
  ]);
  expect(await attempt('operator_api', set('pending'))).toBe(1);
  await sql`update applications set status = 'removed'`;
  // As `prune` does when KYC_KEEP_REMOVED has passed.
  for (const table of ['kyc_records', 'kyc_former_records']) {
    await expectRefused('worker', [set('erased')]);
    expect((await sql`delete from ${sql(table)}`).count, table).toBe(1);
  }
  expect(await attempt('worker', set('erased'))).toBe(1);
});
