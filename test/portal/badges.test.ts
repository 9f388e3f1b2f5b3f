// What a list of games says of one beside its name.
import { expect, test } from 'vitest';
import { insertAppeal } from '#db/queries/appeals.ts';
import { recordFailures } from '#db/queries/failures.ts';
import { upsertGames } from '#db/queries/games.ts';
import { arrive } from '#test/portal/developer.ts';
import { useTestConsole } from '#test/support/console.ts';
import { fetchedGame, KIM } from '#test/support/factories.ts';
import { decideGames } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const portal = useTestConsole(database);

/** Which badges each game of a tab has. */
const badgesOf = (page: string): Record<string, string[]> =>
  Object.fromEntries(
    [...page.matchAll(/<small class="mono">([^<]*)<\/small>(.*?)<\/td>/gs)].map(([, id, rest = '']) => [
      id,
      [...rest.matchAll(/class="badge ([a-z]* *[^<]*)</g)].map(([, badge = '']) => badge.replace('">', ': ')),
    ]),
  );

test('a pending game that was decided before its change says so, and a passed one whose change is refused, also where they are found', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'larch');
  await arrive(sql, portal.url, 'other');
  const games = ['live', 'kept', 'slow', 'changed', 'mended', 'argued'].map((game_id) =>
    fetchedGame({ game_id, game_name: `Larch ${game_id}` }),
  );
  await upsertGames(sql, 'larch', [...games, fetchedGame({ game_id: 'new' })]);
  const decide = (ids: readonly string[], decision: Parameters<typeof decideGames>[2]) => {
    const shown = games.filter(({ application_game_id }) => ids.includes(application_game_id));
    return decideGames(
      sql,
      shown.map(({ game_id }) => ({ game_id, revision: 1 })),
      decision,
      KIM,
    );
  };
  await decide(['live', 'kept', 'slow', 'changed'], { audit_status: 'passed' });
  await decide(['mended', 'argued'], { audit_status: 'rejected', reason: 'rights', text: 'Whose?' });
  await insertAppeal(sql, { game_id: games.at(-1)?.game_id ?? '', text: 'Ours.' });
  const later = ['changed', 'mended'].map((game_id) =>
    fetchedGame({ game_id, game_name: `Larch ${game_id}`, game_info: 'Another.' }, new Date()),
  );
  await upsertGames(sql, 'larch', later);
  const reasons = [{ path: 'game_icon.0', code: 'not_http_url' }];
  const invalid = (application_game_id: string) => ({ application_game_id, kind: 'invalid_data', reasons });
  await recordFailures(sql, 'larch', 'query_game_detail', [
    invalid('live'),
    { application_game_id: 'slow', kind: 'timeout', reasons: [] },
  ]);
  await recordFailures(sql, 'other', 'query_game_detail', [invalid('kept')]);
  expect(badgesOf(await page('/portal/games?status=pending'))).toEqual({
    new: [],
    changed: ['good: was passed'],
    mended: ['bad: was rejected'],
  });
  expect(badgesOf(await page('/portal/games?status=passed'))).toEqual({
    live: ['warn: change not stored'],
    kept: [],
    slow: [],
  });
  const found = await page('/portal/games?q=larch');
  expect(found).toContain('6 games found');
  expect(badgesOf(found)).toEqual({
    live: ['warn: change not stored'],
    kept: [],
    slow: [],
    changed: ['good: was passed'],
    mended: ['bad: was rejected'],
    argued: ['info: appeal waits'],
  });
});
