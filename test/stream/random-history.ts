import { expect } from 'vitest';
import { type Database, openDatabase, type Queryable } from '#db/client.ts';
import { lockActiveApplication } from '#db/queries/applications.ts';
import { upsertGames } from '#db/queries/games.ts';
import { transact } from '#db/transact.ts';
import { aCopy, aStreamReader, readCatalogue } from '#test/stream/reader.ts';
import { addApplication, fetchedGame, KIM } from '#test/support/factories.ts';
import { decideGame, removeApplication, setPackageUrls, undoGameDecisions } from '#test/support/operate.ts';

const APPLICATIONS = ['one', 'two', 'three'];
const GAMES = 12;
const WRITERS = 5;

const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)] as Item;
const number = (below: number): number => Math.floor(Math.random() * below);

/** A worker writes nothing of an application that is removed meanwhile. */
const writeAsWorker = (sql: Database, application_id: string, write: (tx: Queryable) => Promise<unknown>) =>
  transact(sql, async (tx) => {
    if (await lockActiveApplication(tx, application_id)) await write(tx);
  });

/** One change, as a worker or an operator makes it. */
const act = async (sql: Database): Promise<void> => {
  const application_id = pick(APPLICATIONS);
  const rows = await sql<{ game_id: string; revision: number }[]>`
    select game_id, revision from games where application_id = ${application_id} order by random() limit 3`;
  const { game_id = '', revision = 0 } = rows[0] ?? {};
  const kind = number(12);
  if (kind < 5 || rows.length === 0) {
    const batch = Array.from({ length: 3 }, (_, n) =>
      fetchedGame(
        { game_id: `g-${(number(GAMES / 3) + n * 4) % GAMES}`, game_info: `text ${number(4)}` },
        new Date(),
      ),
    );
    const unique = [...new Map(batch.map((game) => [game.application_game_id, game])).values()];
    await writeAsWorker(sql, application_id, (tx) => upsertGames(tx, application_id, unique));
  } else if (kind < 8) await decideGame(sql, { game_id, revision, audit_status: pick(['passed', 'passed']) });
  else if (kind === 8)
    await decideGame(sql, {
      game_id,
      revision,
      audit_status: 'rejected',
      reason: pick(['rights', 'other']),
      text: 'No.',
    });
  else if (kind === 9) {
    const [last] = await sql<{ audit_id: number }[]>`
      select audit_id from game_audits where game_id = ${game_id} and undone_at is null order by audit_id desc limit 1`;
    if (last !== undefined) await undoGameDecisions(sql, [last.audit_id], KIM);
  } else if (kind === 10)
    await setPackageUrls(sql, [{ game_id, game_package_url: `https://cdn.example/${number(99)}` }], KIM);
  else if (number(6) === 0) {
    await removeApplication(sql, application_id);
    await addApplication(sql, application_id);
  } else
    await writeAsWorker(
      sql,
      application_id,
      (tx) => tx`
        update games set withdrawn_at = case when withdrawn_at is null then now() end
        where game_id = any(${rows.map((row) => row.game_id)}::uuid[])`,
    );
};

/**
 * Plays a random history whose sessions are killed. A copy that is made from the stream alone equals the tables.
 * @param acts of each writer
 */
export const playRandomHistory = async (
  { sql, databaseUrl }: { sql: Database; databaseUrl: string },
  acts: number,
): Promise<void> => {
  for (const application_id of APPLICATIONS) await addApplication(sql, application_id);
  await using stack = new AsyncDisposableStack();
  const copy = aCopy(sql);
  const reader = aStreamReader(sql);
  let isOver = false;
  let done = 0;
  let killed = 0;
  let lost = 0;
  /** Ends the session of a writer that is in the middle of something, as a server that is killed does. */
  const kill = async (): Promise<void> => {
    const rows = await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'victim' and datname = current_database() and state <> 'idle' limit 1`;
    killed += rows.length;
  };
  const writers = Array.from({ length: WRITERS }, async () => {
    const own = openDatabase(databaseUrl, { max: 2, applicationName: 'victim' });
    stack.defer(() => own.end({ timeout: 1 }));
    for (let n = 0; n < acts; n += 1) {
      await act(own).catch(() => {
        lost += 1;
      });
      done += 1;
      if (done % 8 === 0) await kill();
    }
  });
  const follow = async (): Promise<void> => {
    while (!isOver) for (const event of await reader.read(1 + number(7))) await copy.apply(event);
  };
  const following = follow();
  await Promise.all(writers);
  isOver = true;
  await following;
  for (const event of await reader.readAll()) await copy.apply(event);
  const catalogue = await readCatalogue(sql);
  expect(copy.games()).toEqual(catalogue);
  // Applications that were removed late in the history have few games at its end.
  expect(Object.keys(catalogue).length).toBeGreaterThan(0);
  expect(killed).toBeGreaterThan(1);
  expect(lost).toBeGreaterThan(0);
  expect(lost).toBeLessThan((WRITERS * acts) / 2);
};
