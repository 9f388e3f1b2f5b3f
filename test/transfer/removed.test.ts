import { randomUUIDv7 } from 'node:crypto';
import { expect, it } from 'vitest';
import { importGames } from '#src/operations/imports.ts';
import { addApplication, webhooksAt } from '#test/support/factories.ts';
import { fleetBackend, useTestFleet } from '#test/support/fleet.ts';
import { KIM, operateAs, removeApplication } from '#test/support/operate.ts';

const fleet = useTestFleet(fleetBackend(), 1);

it('the removal of an application ends its waiting imports: what comes back is not passed, and its ids are free', async () => {
  const { sql } = fleet;
  const { server } = await fleet.addApplication('acme', 1);
  const [{ game_id: application_game_id } = { game_id: '' }] = server.games.all();
  const game_id = randomUUIDv7();
  const line = { game_id, audit_status: 'passed', audit_time: '2024-02-29T23:59:59Z' } as const;
  const importInto = (application_id: string) =>
    operateAs(sql, KIM.actor, importGames, { application_id, games: [{ ...line, application_game_id }] });
  expect(await importInto('acme')).toMatchObject({ waiting: 1 });
  await removeApplication(sql, 'acme');
  await addApplication(sql, 'acme', webhooksAt(server.url));
  expect((await fleet.sync('acme')).outcome).toBe('succeeded');
  expect(await sql`select audit_status, game_id = ${game_id} as is_imported from games`).toEqual([
    { audit_status: 'pending', is_imported: false },
  ]);
  await addApplication(sql, 'other');
  expect(await importInto('other')).toMatchObject({ waiting: 1 });
});
