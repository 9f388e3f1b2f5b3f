import { beforeEach, describe, expect, it } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { upsertGames } from '#db/queries/games.ts';
import { DATABASE_ROLES } from '#db/roles.ts';
import { KYC_SEALED_FIELDS } from '#src/contract/application.ts';
import { CONTENT, CONTENT_COLUMNS } from '#src/rules/mapping.ts';
import { useStolenLogins } from '#test/privilege/support.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { PLANTED, ringOf, store } from '#test/support/kyc.ts';
import { decideGame } from '#test/support/operate.ts';

const { database, attempt, expectRefused } = useStolenLogins();
const SIGNED = {
  game_icon: ['https://cdn.example/icon.png?sign=1'],
  game_store_video: 'https://cdn.example/v?t=1',
};
let game_id: string;

beforeEach(async () => {
  const { sql } = database;
  await sql`truncate applications, games, events cascade`;
  for (const id of ['acme', 'beta']) await addApplication(sql, id);
  const game = fetchedGame(SIGNED);
  game_id = game.game_id;
  await upsertGames(sql, 'acme', [game]);
});

const other = (column: (typeof CONTENT_COLUMNS)[number]) =>
  CONTENT[column].type === 'text' ? "'https://evil.example/x'" : "'{https://evil.example/x}'";

describe.each(['pending', 'passed', 'rejected'] as const)(
  'a stolen worker does not change a game that is %s',
  (status) => {
    beforeEach(async () => {
      if (status !== 'pending')
        await decideGame(database.sql, {
          game_id,
          audit_status: status,
          ...(status === 'rejected' && { reason: 'rights' }),
        });
    });

    it.each(CONTENT_COLUMNS)('in place, in its %s', async (column) => {
      await expectRefused('worker', [
        `update games set ${column} = ${other(column)}`,
        `update games set ${column} = ${other(column)}, revision = revision + 2, audit_status = 'pending', audit_time = null`,
        `update games set ${column} = ${other(column)}, revision = revision - 1, audit_status = 'pending', audit_time = null`,
        `insert into games (game_id, application_id, application_game_id, ${CONTENT_COLUMNS.join(', ')}, content_hash, list_hash, fetched_at)
         select game_id, application_id, application_game_id, ${CONTENT_COLUMNS.join(', ')}, content_hash, list_hash, fetched_at from games
         on conflict (game_id) do update set ${column} = ${other(column)}`,
        `merge into games g using (select) one on true when matched then update set ${column} = ${other(column)}`,
      ]);
    });

    it('into a game of another application, with another id or an installation package', async () => {
      await expectRefused('worker', [
        "update games set application_id = 'beta'",
        "update games set application_game_id = 'other'",
        'update games set game_id = gen_random_uuid()',
        "update games set game_package_url = 'https://evil.example/malware.apk'",
        'update games set created_at = now()',
      ]);
    });

    it('by a revision or a time of its own', async () => {
      await expectRefused('worker', [
        'update games set revision = revision + 5',
        "update games set audit_status = 'passed', audit_time = '2001-01-01'",
      ]);
    });
  },
);

it('a worker writes new content as the next revision, which is pending, and new signatures of addresses', async () => {
  const { sql } = database;
  await decideGame(sql, { game_id, audit_status: 'passed' });
  const signed =
    "game_icon = '{https://cdn.example/icon.png?sign=2}', game_store_video = 'https://cdn.example/v?t=2'";
  expect(await attempt('worker', `update games set ${signed}`)).toBe(1);
  const later = fetchedGame({ ...SIGNED, game_name: 'Renamed' }, new Date('2026-03-02T12:00:00.000Z'));
  await upsertGames(database.as('worker'), 'acme', [later]);
  expect(await sql`select game_name, revision, audit_status from games`).toEqual([
    { game_name: 'Renamed', revision: 2, audit_status: 'pending' },
  ]);
});

it('a stolen worker writes no act of a person to the audit log, and of processes its own alone', async () => {
  const entry = (actor: string, kind: string, action: string) =>
    `insert into audit_log (actor, actor_kind, action, subject) values ('${actor}', '${kind}', '${action}', 'application:acme')`;
  await expectRefused('worker', [
    entry('kim', 'system', 'kyc.reveal'),
    entry('kim', 'operator', 'kyc.reveal'),
    entry('kim', 'command_line', 'kyc.reveal'),
    entry('acme', 'application', 'session.sign_in'),
    entry('worker', 'system', 'kyc.reveal'),
    entry('worker', 'system', 'application.pause2'),
    entry('catalogue', 'system', 'approval.void'),
    entry('OIDC provider', 'system', 'operator.roles'),
    entry('media', 'system', 'game.reopen'),
    entry('kim', 'system', 'application.pause'),
    // It would read as `worker (system, user kim)`.
    `insert into audit_log (actor, actor_kind, os_user, action, subject)
     values ('worker', 'system', 'kim', 'application.pause', 'application:acme')`,
  ]);
  expect(await attempt('worker', entry('worker', 'system', 'application.pause'))).toBe(1);
  expect(await listAudit(database.sql, { actor: 'kim', action: 'kyc.reveal', limit: 9 })).toEqual([]);
});

const replaceRevision = `
  with former as (delete from game_revisions returning *)
  insert into game_revisions (game_id, revision, content_hash, fetched_at, ${CONTENT_COLUMNS.join(', ')})
  select game_id, revision, content_hash, fetched_at,
         ${CONTENT_COLUMNS.map((column) => (column === 'game_name' ? "'FREE CASINO'" : column)).join(', ')} from former`;

it('a stolen worker puts no other content in the place of what was decided on', async () => {
  const { sql } = database;
  await decideGame(sql, { game_id, audit_status: 'passed' });
  // The decision would be carried over to the content that the worker writes next.
  await expectRefused('worker', [replaceRevision, 'delete from game_revisions']);
});

it('a stolen worker stores no revision before the game has it, nor one that no game has', async () => {
  const store = (revision: number) => `
    insert into game_revisions (game_id, revision, content_hash, fetched_at, ${CONTENT_COLUMNS.join(', ')})
    select game_id, ${revision}, content_hash, fetched_at, ${CONTENT_COLUMNS.join(', ')} from games`;
  // The game could not change to the first, and readers of the stream get no answer with the second.
  await expectRefused('worker', [store(2), store(0)]);
  const later = fetchedGame({ ...SIGNED, game_name: 'Renamed' }, new Date('2026-03-02T12:00:00.000Z'));
  expect((await upsertGames(database.as('worker'), 'acme', [later])).updated).toHaveLength(1);
});

it('a stolen worker does not pass a game that was rejected, by the import that names it as passed', async () => {
  const { sql } = database;
  const content = `${CONTENT_COLUMNS.join(', ')}, content_hash, fetched_at`;
  const id = '00000000-0000-7000-8000-000000000001';
  await sql`
    insert into imported_games (application_id, application_game_id, game_id, game_package_url, audit_status, audit_time, decided_by)
    values ('acme', 'imported', ${id}, '', 'passed', now(), 'kim')`;
  const store = (revision: number) => `
    insert into game_revisions (game_id, revision, ${content})
    select game_id, ${revision}, ${content} from games where game_id = '${id}'`;
  const worker = database.as('worker');
  await worker.unsafe(`
    insert into games (game_id, application_id, application_game_id, list_hash, ${content})
    select '${id}', application_id, 'imported', list_hash, ${content} from games`);
  await worker`update games set revision = 2, game_name = 'FREE CASINO', audit_status = 'pending' where game_id = ${id}`;
  await worker.unsafe(store(2));
  await database.as('console').unsafe(`
    update games set audit_status = 'rejected', audit_time = now() where game_id = '${id}'`);
  await worker.unsafe(store(1));
  expect(await sql`select audit_status from games where game_id = ${id}`).toEqual([
    { audit_status: 'rejected' },
  ]);
});

it('an import that waits does not replace the decision on a game whose first revision a stolen worker left out', async () => {
  const { sql } = database;
  const content = `${CONTENT_COLUMNS.join(', ')}, content_hash, list_hash, fetched_at`;
  const id = '00000000-0000-7000-8000-000000000003';
  await sql`
    insert into imported_games (application_id, application_game_id, game_id, game_package_url, audit_status, audit_time, decided_by)
    values ('acme', 'imported', ${id}, '', 'passed', now(), 'kim')`;
  await database.as('worker').unsafe(`
    insert into games (game_id, application_id, application_game_id, ${content})
    select '${id}', application_id, 'imported', ${content} from games`);
  await decideGame(sql, { game_id: id, audit_status: 'rejected', reason: 'other', text: 'no' });
  expect(await sql`select audit_status from games where game_id = ${id}`).toEqual([
    { audit_status: 'rejected' },
  ]);
});

it('a stolen worker gives no game the id of an imported game that waits: that one could not be stored', async () => {
  const { sql } = database;
  const id = '00000000-0000-7000-8000-000000000002';
  await sql`
    insert into imported_games (application_id, application_game_id, game_id, game_package_url, audit_status, audit_time, decided_by)
    values ('acme', 'imported', ${id}, '', 'passed', now(), 'kim')`;
  const content = `${CONTENT_COLUMNS.join(', ')}, content_hash, list_hash, fetched_at`;
  const squat = (application_id: string, application_game_id: string) => `
    insert into games (game_id, application_id, application_game_id, ${content})
    select '${id}', '${application_id}', '${application_game_id}', ${content} from games`;
  await expectRefused('worker', [squat('beta', 'imported'), squat('acme', 'other')]);
  const game = fetchedGame({ ...SIGNED, game_id: 'imported' });
  expect((await upsertGames(database.as('worker'), 'acme', [game])).inserted).toEqual(['imported']);
  expect(await sql`select application_game_id, audit_status from games where game_id = ${id}`).toEqual([
    { application_game_id: 'imported', audit_status: 'passed' },
  ]);
});

it('only the order of commits gives events their positions', async () => {
  const { sql } = database;
  await decideGame(sql, { game_id, audit_status: 'passed' });
  for (const role of DATABASE_ROLES)
    await expectRefused(role, [
      'update events set position = 9223372036854775807',
      'update stream_events set position = 9223372036854775807',
      "select nextval('event_positions'), nextval('stream_positions')",
    ]);
  expect(await attempt('api', "select place_events('events', 100)")).toBe(1);
  expect(await sql`select position from events`).toEqual([{ position: expect.any(Number) }]);
});

it('a stolen worker does not have the API serve other pictures than were decided on: bytes that are kept stay known', async () => {
  const { sql } = database;
  await sql`truncate picture_contents`;
  await sql`
    insert into picture_contents (sha256, outcome, bytes, format, pinned, stored)
    values (sha256('1'), 'shown', 1, 'png', true, 'passed'), (sha256('2'), 'shown', 1, 'png', true, null),
           (sha256('3'), 'shown', 1, 'png', false, null)`;
  await expectRefused('worker', [
    'update picture_contents set stored = null',
    'update picture_contents set pinned = false',
    "update picture_contents set format = 'gif'",
    "update picture_contents set sha256 = sha256('4') where sha256 = sha256('1')",
    'delete from picture_contents',
    "delete from picture_contents where sha256 = sha256('2')",
  ]);
  expect(await attempt('worker', "delete from picture_contents where sha256 = sha256('3')")).toBe(1);
});

it('a picture whose thumbnails a stolen worker deletes is decoded again, also one that a decision names', async () => {
  const { sql } = database;
  await sql`truncate picture_contents`;
  await sql`
    insert into picture_contents (sha256, outcome, bytes, format, pinned) values (sha256('1'), 'shown', 1, 'png', true)`;
  await sql`insert into picture_thumbnails (sha256, width, webp) values (sha256('1'), 64, '\\x01')`;
  expect(await attempt('worker', 'delete from picture_thumbnails')).toBe(1);
  await expectRefused('worker', ['update picture_contents set whole = true']);
  expect(await sql`select whole from picture_contents`).toEqual([{ whole: false }]);
});

it('a stolen worker leaves no former version that keeps every next KYC record out', async () => {
  const { sql } = database;
  const keys = ringOf(['k1']);
  await store(sql, keys, 'acme', PLANTED);
  const kept = `record_id, application_id, cp_id, ${KYC_SEALED_FIELDS.join(', ')}, data_keys, received_at, changed_fields`;
  expect(
    await attempt('worker', `insert into kyc_former_records (${kept}) select ${kept} from kyc_records`),
  ).toBe(1);
  expect(await store(sql, keys, 'acme', { ...PLANTED, cp_name: 'Renamed' })).toBe('sealed');
  expect(await sql`select from kyc_former_records`).toHaveLength(1);
});
