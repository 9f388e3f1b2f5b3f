import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { listLaneContents } from '#db/queries/lane-contents.ts';
import { listLanePage } from '#db/queries/lanes.ts';
import { useStolenLogins } from '#test/privilege/support.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';

const { database, attempt, expectRefused } = useStolenLogins();

beforeEach(async () => {
  const { sql } = database;
  await sql`truncate applications, games, pictures, game_audits, changed_games cascade`;
  await addApplication(sql, 'acme');
  const game = fetchedGame({ game_icon: ['https://cdn.example/icon.png'] });
  await upsertGames(sql, 'acme', [game]);
  await decideGame(sql, { game_id: game.game_id, audit_status: 'passed' });
});

it('stolen media changes no time of a decision, so it sends no event of one', async () => {
  const events = () => database.sql`select type from events`;
  const before = await events();
  await expectRefused('media', [
    "update games set audit_time = '2001-01-01'",
    'update games set audit_time = now()',
    "update games set audit_status = 'rejected', audit_time = now()",
  ]);
  expect(await events()).toEqual(before);
  expect(await attempt('media', "update games set audit_status = 'pending', audit_time = null")).toBe(1);
});

it('stolen media binds a decision to bytes once', async () => {
  await database.sql`update picture_pins set sha256 = null`;
  expect(await attempt('media', "update picture_pins set sha256 = '\\x01'")).toBeGreaterThan(0);
  await expectRefused('media', [
    "update picture_pins set sha256 = '\\x02'",
    'update picture_pins set sha256 = null',
    'delete from picture_pins',
  ]);
});

it('stolen media carries a decision over with the pictures of the game alone: players would get others too', async () => {
  const { sql } = database;
  const [shown, other] = [randomUUID(), randomUUID()];
  await sql`update picture_pins set sha256 = sha256('shown')`;
  const moved = fetchedGame(
    { game_icon: ['https://cdn.example/moved.png'] },
    new Date('2026-03-02T12:00:00.000Z'),
  );
  await upsertGames(sql, 'acme', [moved]);
  await attempt(
    'media',
    `insert into pictures (picture_id, url, sha256)
     values ('${shown}', 'https://cdn.example/moved.png', sha256('shown')), ('${other}', 'https://cdn.example/other.png', sha256('other'))`,
  );
  const [decision] = await sql`select game_id, audit_id from game_audits`;
  const carry = async (...places: object[]) => {
    await attempt(
      'media',
      `select carry_over_decision('${decision?.game_id}', 2, ${decision?.audit_id}, '${JSON.stringify(places)}')`,
    );
    return sql`select picture_id from picture_pins where audit_id > ${decision?.audit_id}`;
  };
  const pins = await sql`select is_icon, place from picture_pins`;
  const places = pins.map((pin) => ({ ...pin, picture_id: shown }));
  expect(await carry(...places, { is_icon: false, place: 50, picture_id: other })).toEqual([]);
  expect(await carry(...places)).toHaveLength(places.length);
});

it('stolen media writes to the audit log only that games returned to review', async () => {
  const entry = (actor: string, kind: string, action: string) =>
    `insert into audit_log (actor, actor_kind, action, subject) values ('${actor}', '${kind}', '${action}', 'game:1')`;
  await expectRefused('media', [
    entry('media', 'system', 'game.pass'),
    entry('kim', 'system', 'game.reopen'),
    entry('media', 'operator', 'game.reopen'),
    entry('worker', 'system', 'application.pause'),
  ]);
  expect(await attempt('media', entry('media', 'system', 'game.reopen'))).toBe(1);
});

it.each(['worker', 'media'] as const)(
  'a stolen %s does not have the changed lane compare a game with what no one has decided on',
  async (role) => {
    const { sql } = database;
    const changed = fetchedGame({ game_name: 'Changed' }, new Date('2026-03-02T12:00:00.000Z'));
    await upsertGames(sql, 'acme', [changed]);
    await expectRefused(role, [
      'delete from changed_games',
      'update changed_games set decided_revision = 2',
      `insert into changed_games (game_id, application_id, decided_revision, since)
       select game_id, application_id, revision, now() from games`,
    ]);
    const page = { sort: 'due', descending: false, limit: 1, uncounted: true } as const;
    const { rows } = await listLanePage(sql, { lane: 'changed' }, page);
    expect(rows).toMatchObject([{ revision: 2, decided_revision: 1 }]);
    expect(await listLaneContents(sql, rows)).toMatchObject([{ name: true }]);
  },
);
