import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { verifyAudit } from '#db/verify-audit.ts';
import { openQueueBackend } from '#src/queue/backend.ts';
import { addTestOperator, signIn } from '#test/support/console.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { type FleetProcess, startFleetProcess } from '#test/support/fleet-process.ts';
import { startProxy, type TcpProxy } from '#test/support/tcp-proxy.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const GAMES = 24;
const database = useTestDatabase();
let first: FleetProcess;
let second: FleetProcess;
let address: TcpProxy;
/** The console that new connections reach. */
let reached: FleetProcess;

beforeAll(async () => {
  const { sql, databaseUrl } = database;
  const prefix = '{catalogue}';
  const backend = openQueueBackend({
    databaseUrl,
    redisUrl: undefined,
    prefix,
    use: 'producer',
    onError: () => {},
  });
  await backend.migrate();
  await backend.close();
  await addTestOperator(sql, 'olga', 'reviewer');
  await addApplication(sql, 'acme');
  const env = { DATABASE_URL: databaseUrl, CONSOLE_PORT: '0' };
  [first, second] = await Promise.all([startFleetProcess('console', env), startFleetProcess('console', env)]);
  reached = first;
  address = await startProxy(() => Number(new URL(reached.address).port));
});
afterAll(async () => {
  await address?.[Symbol.asyncDispose]();
  await first?.stop();
  await second?.stop();
});

test('while people decide, one of two consoles is killed: the session goes on, every game is decided once', async () => {
  const { sql } = database;
  const games = Array.from({ length: GAMES }, () => fetchedGame({ game_id: randomUUID() }));
  await upsertGames(sql, 'acme', games);
  const url = `http://127.0.0.1:${address.port}`;
  const cookie = await signIn(url, 'olga');

  const decide = async (game_id: string): Promise<number> => {
    const body = new URLSearchParams({ act: 'pass', revision: '1', seen_status: 'pending' });
    // As a person does: a page that does not come is sent again.
    return until('the decision is answered', () =>
      fetch(`${url}/games/${game_id}`, {
        method: 'POST',
        headers: { cookie },
        body,
        redirect: 'manual',
      }).then(
        ({ status }) => status,
        () => undefined,
      ),
    );
  };
  let decided = 0;
  const statuses = await Promise.all(
    games.map(async ({ game_id }, index) => {
      await until('its turn', () => decided >= index - 3);
      if (index === GAMES / 2) {
        reached = second;
        first.process.kill('SIGKILL');
      }
      const status = await decide(game_id);
      decided += 1;
      return status;
    }),
  );
  expect((await first.process.done).exit).toBeNull();
  // 303: the form was taken, also where the first answer was lost and the second found the game decided.
  expect(statuses.filter((status) => status !== 303)).toEqual([]);
  const rows = await sql<{ decisions: number }[]>`
    select count(a.audit_id)::int as decisions from games g left join game_audits a using (game_id)
    where g.audit_status = 'passed' group by g.game_id`;
  expect(rows.map(({ decisions }) => decisions)).toEqual(Array(GAMES).fill(1));
  const page = await fetch(`${url}/review`, { headers: { cookie }, redirect: 'manual' });
  expect(page.status).toBe(200);
  expect(await page.text()).toContain('olga');
  expect((await verifyAudit(sql)).broken).toBeNull();
});
