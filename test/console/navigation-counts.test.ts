import { afterEach, expect, test, vi } from 'vitest';
import { insertAppeal } from '#db/queries/appeals.ts';
import { createNavigationCounts } from '#src/console/navigation-counts.ts';
import { holdApplication } from '#src/operations/holds.ts';
import { addApplication, addGames, KIM } from '#test/support/factories.ts';
import { decideGames, operateAs } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const database = useTestDatabase();
afterEach(() => vi.restoreAllMocks());

test('a page after a quiet hour shows the last counts, and the next page shows new ones; a change is counted at once', async () => {
  const { sql } = database;
  await addApplication(sql, 'app');
  const [game_id = ''] = await addGames(sql, 'app', 3);
  const { counts, refresh } = createNavigationCounts(sql);
  let passed = 0;
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + passed);
  const pending = () => counts().places['/review'];
  expect(pending()).toBeUndefined();
  expect(await until('the counts are read', async () => pending())).toBe('3');
  await addApplication(sql, 'other');
  await addGames(sql, 'other', 2);
  passed += 3_600_000;
  expect(pending(), 'they are an hour old').toBe('3');
  await until('the counts are read again', async () => pending() === '5');

  const rejection = { audit_status: 'rejected', reason: 'rights' } as const;
  await decideGames(sql, [{ game_id, revision: 1 }], rejection, { actor: 'kim', actor_kind: 'operator' });
  refresh();
  await until('the decision is counted', async () => pending() === '4');
  expect(counts().decided).toEqual({ kim: 1 });
  await insertAppeal(sql, { game_id, text: 'Why?' });
  refresh();
  await until('an open appeal waits as a game does', async () => pending() === '5');
  await operateAs(sql, KIM, holdApplication, { application_id: 'other', reason: 'rights' });
  refresh();
  await until('games that are held back wait for nothing', async () => pending() === '3');
});
