import { beforeAll, expect, it } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { DATABASE_ROLES, type DatabaseRole } from '#db/roles.ts';
import { ATTACKS } from '#test/privilege/attacks.ts';
import { useStolenLogins } from '#test/privilege/support.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';

const { database, attempt } = useStolenLogins();

beforeAll(async () => {
  const { sql } = database;
  await addApplication(sql, 'acme');
  const game = fetchedGame();
  await upsertGames(sql, 'acme', [game]);
  await decideGame(sql, { game_id: game.game_id, audit_status: 'passed' });
  await sql`insert into operators (login, name, roles) values ('kim', 'Kim', '{kyc_officer}')`;
});

const whoMay = async (statement: string): Promise<DatabaseRole[]> => {
  const found: DatabaseRole[] = [];
  for (const role of DATABASE_ROLES)
    if ((await attempt(role, statement, false)) !== 'refused') found.push(role);
  return found;
};

it('each role may run the statements that list it, and none of the others', async () => {
  const found = new Map<string, DatabaseRole[]>();
  for (const { what, statement } of ATTACKS) found.set(what, await whoMay(statement));
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(ATTACKS.map(({ what, allowed }) => [what, allowed])),
  );
});
