// Transactions and settings that a stolen login chooses itself: rules that read rows see them as they are now.
import { beforeEach, expect, it } from 'vitest';
import type { Queryable } from '#db/client.ts';
import { countConnections } from '#db/queries/connections.ts';
import { upsertGames } from '#db/queries/games.ts';
import type { DatabaseRole } from '#db/roles.ts';
import { INSUFFICIENT_PRIVILEGE } from '#db/sqlstate.ts';
import { holdApplication } from '#src/operations/holds.ts';
import { useStolenLogins } from '#test/privilege/support.ts';
import { untilBlocked } from '#test/support/blocked.ts';
import { addTestOperator } from '#test/support/console.ts';
import { giveAddress } from '#test/support/events.ts';
import { addApplication, fetchedGame, KIM, moveWebhooks, webhooksAt } from '#test/support/factories.ts';
import { operateAs } from '#test/support/operate.ts';

const { database, attempt, expectRefused } = useStolenLogins();

beforeEach(async () => {
  await database.sql`truncate applications, games, events, operators, approvals cascade`;
  await addApplication(database.sql, 'acme');
  await addTestOperator(database.sql, 'olga', 'reviewer');
});

const REFUSED = { code: INSUFFICIENT_PRIVILEGE };
const addLink = "insert into sign_in_links (link_hash, login, expires_at) values ('\\x01', 'olga', now())";
const makeOfficer = () => database.sql`update operators set roles = '{kyc_officer}' where login = 'olga'`;

/** Lets something happen in between: the transaction sees it only if it takes another snapshot. */
const inSnapshot = (
  role: DatabaseRole,
  between: () => Promise<unknown>,
  work: (tx: Parameters<typeof upsertGames>[0]) => Promise<unknown>,
) =>
  database.as(role).begin('isolation level repeatable read', async (tx) => {
    await tx`select now() from games`;
    await between();
    await work(tx);
  });

const importGame = ({ game_id, application_game_id }: ReturnType<typeof fetchedGame>) =>
  database.sql`
    insert into imported_games (application_id, application_game_id, game_id, game_package_url, audit_status, audit_time, decided_by)
    values ('acme', ${application_game_id}, ${game_id}, '', 'passed', now(), 'kim')`;

it('an import passes no game of an application that was held since the transaction of the worker began', async () => {
  const game = fetchedGame();
  await importGame(game);
  const hold = () =>
    operateAs(database.sql, KIM, holdApplication, { application_id: 'acme', reason: 'The rights.' });
  await expect(inSnapshot('worker', hold, (tx) => upsertGames(tx, 'acme', [game]))).rejects.toMatchObject(
    REFUSED,
  );
  expect(await database.sql`select from games where audit_status = 'passed'`).toEqual([]);
});

it('no game gets the id of one that was imported since the transaction of the worker began', async () => {
  const game = fetchedGame();
  const squat = { ...game, application_game_id: 'other' };
  await expect(
    inSnapshot(
      'worker',
      () => importGame(game),
      (tx) => upsertGames(tx, 'acme', [squat]),
    ),
  ).rejects.toMatchObject(REFUSED);
});

it('no events go to an origin that the application has left since the transaction of the console began', async () => {
  const move = () => moveWebhooks(database.sql, 'acme', webhooksAt('https://moved.example'));
  await giveAddress(database.sql, 'acme', 'https://events.example/');
  await moveWebhooks(database.sql, 'acme', webhooksAt('https://former.example'));
  const send = "update event_webhooks set url = 'https://former.example/'";
  await expect(inSnapshot('console', move, (tx) => tx.unsafe(send))).rejects.toMatchObject(REFUSED);
});

it('a link opens no sign-in of an officer, if its transaction began before the operator became one', async () => {
  await expect(inSnapshot('console', makeOfficer, (tx) => tx.unsafe(addLink))).rejects.toThrow();
  await database.sql`update operators set roles = '{reviewer}' where login = 'olga'`;
  // Nor if it is not committed yet.
  let made: Promise<unknown> = Promise.resolve();
  await database.as('console').begin(async (tx) => {
    await tx.unsafe(addLink);
    made = makeOfficer().execute();
    await tx`select pg_sleep(0.2)`;
  });
  await made;
  expect(await database.sql`select from sign_in_links`).toEqual([]);
  // Nor if the transaction that makes the officer does not see it.
  const addOther = () => database.sql.unsafe(addLink);
  const disable = "update operators set status = 'disabled'";
  await expect(inSnapshot('console', addOther, (tx) => tx.unsafe(disable))).rejects.toMatchObject(REFUSED);
});

it('patterns of the audit log hold in a session whose literals lose backslashes', async () => {
  const entry = (actor: string, kind: string, action: string) =>
    `set local standard_conforming_strings = off;
     insert into audit_log (actor, actor_kind, action, subject) values ('${actor}', '${kind}', '${action}', 'game:1')`;
  await expectRefused('media', [entry('media', 'system', 'game_reopen')]);
  await expectRefused('worker', [entry('prune', 'system', 'kyc_expire')]);
  await expectRefused('kyc_desk', [entry('kim', 'operator', 'kyc_game.pass')]);
  expect(await attempt('media', entry('media', 'system', 'game.reopen'))).toBe(1);
});

it('names that sessions give themselves are no series of the metrics', async () => {
  const holders = await database.as('api').begin(async (tx) => {
    await tx`select set_config('application_name', 'catalogue series-1', true)`;
    return countConnections(database.sql);
  });
  expect(holders).toEqual([{ holder: 'other', state: 'idle in transaction', count: 1 }]);
});

it('a session that blocks another one is named while it waits itself, for one lock after another', async () => {
  await addApplication(database.sql, 'beta');
  const stolen = database.as('worker');
  const lock = async (tx: Queryable, id: string) => {
    const [row] =
      await tx`select pg_backend_pid() as pid from applications where application_id = ${id} for update`;
    return Number(row?.pid);
  };
  let victim: Promise<unknown> = Promise.resolve();
  let seen: unknown;
  await stolen.begin((tx) =>
    stolen.begin(async (blocker) => {
      await lock(tx, 'beta');
      const pid = await lock(blocker, 'acme');
      victim = database.as('console').begin((other) => lock(other, 'acme'));
      await untilBlocked(database.sql);
      const next = lock(blocker, 'beta');
      await untilBlocked(database.sql, 2);
      [seen] = await database.sql`select blocks_s > 0 as blocks from process_sessions() where pid = ${pid}`;
      await tx`rollback`;
      await next;
    }),
  );
  await victim;
  expect(seen).toEqual({ blocks: true });
});
