import { afterEach, expect, test, vi } from 'vitest';
import { createNavigationCounts } from '#src/console/navigation-counts.ts';
import { addApplication, addGames } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const database = useTestDatabase();
afterEach(() => vi.restoreAllMocks());

test('a page after a quiet minute shows no counts of the last page, and the next page shows new ones', async () => {
  const { sql } = database;
  await addApplication(sql, 'app');
  await addGames(sql, 'app', 3);
  const read = createNavigationCounts(sql);
  let passed = 0;
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + passed);
  const pending = () => read().places['/review'];
  expect(pending()).toBeUndefined();
  expect(await until('the counts are read', async () => pending())).toBe('3');
  await addApplication(sql, 'other');
  await addGames(sql, 'other', 2);
  passed += 30_000;
  expect(pending(), 'they are seconds old').toBe('3');
  await until('the counts are read again', async () => pending() === '5');
  passed += 61_000;
  expect(pending()).toBeUndefined();
  expect(await until('the counts are read anew', async () => pending())).toBe('5');
});
