// 1,000 appeals at once: a reviewer is never led to an appeal against a rejection of their own.
import { expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { leadToAppeal } from '#src/console/pages/appeals.ts';
import { overturnRejection, upholdRejection } from '#src/operations/appeals.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { decideGames, operateAs } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const land = async (application_id: string, count: number) => {
  await addApplication(database.sql, application_id);
  const games = Array.from({ length: count }, (_, n) => fetchedGame({ game_id: `g-${n}` }));
  await upsertGames(database.sql, application_id, games);
  return games.map(({ game_id }) => game_id);
};

test('ten reviewers decide 1,000 appeals: none is led to who rejected, or to two', async () => {
  const { sql } = database;
  const game_ids = await land('many', 1_000);
  const reviewers = Array.from({ length: 10 }, (_, n) => `reviewer-${n}`);
  const rejectedBy = new Map<string, string>();
  for (const [n, login] of reviewers.entries()) {
    const games = game_ids.slice(100 * n, 100 * (n + 1));
    const reason = { audit_status: 'rejected', reason: 'rights' } as const;
    const actor = { actor: login, actor_kind: 'operator' } as const;
    await decideGames(
      sql,
      games.map((game_id) => ({ game_id, revision: 1 })),
      reason,
      actor,
    );
    for (const game_id of games) rejectedBy.set(game_id, login);
  }
  // The bound of a day is 500 texts of one application.
  await sql`alter table game_appeals disable trigger game_appeals_checked`;
  await sql`
    insert into game_appeals (game_id, application_id, audit_id, rejected_by, text, opened_at)
    select a.game_id, 'many', a.audit_id, a.decided_by, 'Why?', now() + row_number() over () * interval '1 ms'
    from game_audits a join games g using (game_id) where g.application_id = 'many' order by random()`;
  await sql`alter table game_appeals enable trigger game_appeals_checked`;
  const led: string[] = [];
  const review = async (login: string, n: number): Promise<void> => {
    for (let after: string | undefined; ; ) {
      const url = await leadToAppeal(sql, login, after);
      if (url === undefined) return;
      const game_id = url.slice('/games/'.length);
      led.push(game_id);
      expect(rejectedBy.get(game_id)).not.toBe(login);
      const actor = { actor: login, actor_kind: 'operator' } as const;
      const given = { game_id, text: 'Because.' };
      if ((led.length + n) % 2 === 0) await operateAs(sql, actor, upholdRejection, given);
      else await operateAs(sql, actor, overturnRejection, { ...given, revision: 1 });
      after = game_id;
    }
  };
  await Promise.all(reviewers.map(review));
  expect(led).toHaveLength(1_000);
  expect(new Set(led)).toEqual(new Set(game_ids));
  const [row] = await sql`
    select count(*)::int as decided, (count(*) filter (where decided_by = rejected_by))::int as own,
           (count(*) filter (where (outcome = 'overturned') <> (g.audit_status = 'passed')))::int as wrong
    from game_appeals p join games g using (game_id) where g.application_id = 'many' and outcome is not null`;
  expect(row).toEqual({ decided: 1_000, own: 0, wrong: 0 });
});
