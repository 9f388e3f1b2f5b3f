import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { recordViewer } from '#db/queries/game-viewers.ts';
import { untilBlocked } from '#test/support/blocked.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

test('two operators whose rows have both expired are recorded at once without a deadlock', async () => {
  const { sql } = database;
  const game_id = randomUUID();
  for (const viewer of ['kim', 'lee']) await recordViewer(sql, game_id, viewer, 1);
  await sql`update game_viewers set seen_at = now() - interval '2 minutes'`;
  // Both statements stop before they write their own row, so that they overlap.
  await sql.unsafe(`
    create function wait_before_viewer() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock_shared(4711); return new; end $$;
    create trigger wait_before_viewer before insert on game_viewers
      for each row execute function wait_before_viewer()`);
  let recorded: Promise<string[][]> | undefined;
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(4711)`;
    recorded = Promise.all(['kim', 'lee'].map((viewer) => recordViewer(sql, game_id, viewer, 1)));
    recorded.catch(() => {});
    await untilBlocked(sql, 2);
  });
  await expect(recorded).resolves.toHaveLength(2);
  const viewers = await sql<{ viewer: string }[]>`
    select viewer from game_viewers where game_id = ${game_id} and seen_at > now() - interval '1 minute' order by 1`;
  expect(viewers.map(({ viewer }) => viewer)).toEqual(['kim', 'lee']);
});
